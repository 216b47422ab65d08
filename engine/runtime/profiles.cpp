#include "engine/runtime/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace assay::runtime {
namespace {

using uop::Limits;
using uop::MathRules;
using uop::MemoryContract;
using uop::Op;
using uop::Subnormals;
using uop::Target;
using uop::TypeSet;
using uop::UlpLimit;
using uop::Widths;

TypeSet without(TypeSet types, TypeSet taken) {
  TypeSet left;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    const auto t = static_cast<uop::DType>(i);
    if (types.has(t) && !taken.has(t)) left = left | TypeSet{t};
  }
  return left;
}

Limits meet(const Limits& a, const Limits& b) {
  Limits m;
  m.group_size = std::min(a.group_size, b.group_size);
  for (size_t i = 0; i < 3; i++) {
    m.item_sizes[i] = std::min(a.item_sizes[i], b.item_sizes[i]);
    m.global_sizes[i] = std::min(a.global_sizes[i], b.global_sizes[i]);
  }
  m.local_bytes = std::min(a.local_bytes, b.local_bytes);
  m.buffers = std::min(a.buffers, b.buffers);
  m.allocation_bytes = std::min(a.allocation_bytes, b.allocation_bytes);
  // Powers of two: what is aligned to the greater is aligned to the other.
  m.alignment = std::max(a.alignment, b.alignment);
  return m;
}

std::vector<Widths> meet(const Target& a, const Target& b, TypeSet types) {
  std::vector<Widths> rows;
  for (const Widths& x : a.widths) {
    for (const Widths& y : b.widths) {
      const TypeSet over = x.over & y.over & types;
      std::vector<int> lanes;
      std::ranges::set_intersection(x.lanes, y.lanes, std::back_inserter(lanes));
      if (!over.empty() && !lanes.empty()) rows.push_back({over, std::move(lanes)});
    }
  }
  return rows;
}

MathRules meet(const MathRules& a, const MathRules& b, TypeSet arithmetic) {
  MathRules m;
  uop::OpSet limited;
  for (const UlpLimit& x : a.limits) {
    for (const UlpLimit& y : b.limits) {
      const TypeSet over = x.over & y.over & arithmetic;
      if (x.op != y.op || over.empty()) continue;
      m.limits.push_back({x.op, over, std::max(x.ulps, y.ulps)});
      limited.insert(x.op);
    }
  }
  m.contracts = a.contracts || b.contracts;
  m.subnormals = a.subnormals == b.subnormals ? a.subnormals : Subnormals::Either;
  m.native = a.native & limited;
  return m;
}

// What both promise.
MemoryContract meet(const MemoryContract& a, const MemoryContract& b) {
  MemoryContract m;
  m.local = std::max(a.local, b.local);
  m.barrier = std::min(a.barrier, b.barrier);
  m.in_branch = std::min(a.in_branch, b.in_branch);
  m.in_loop = std::min(a.in_loop, b.in_loop);
  return m;
}

// What a device may have of its own.
constexpr uop::OpSet kFunctions = {Op::Exp, Op::Exp2, Op::Log, Op::Log2,
                                   Op::Sin, Op::Cos,  Op::Tan, Op::Pow};

// What is exact at any type.
constexpr Op kExact[] = {Op::Neg, Op::Add,   Op::Sub,   Op::Mul,  Op::Fma,  Op::Max,
                         Op::Min, Op::Trunc, Op::Floor, Op::Ceil, Op::Round};

// "The OpenCL Specification", version 1.2, revision 19, section 7.4: double precision.
const UlpLimit kDouble[] = {
    {Op::FDiv, {}, 0}, {Op::Recip, {}, 0}, {Op::Sqrt, {}, 0}, {Op::Exp, {}, 3},
    {Op::Exp2, {}, 3}, {Op::Log, {}, 3},   {Op::Log2, {}, 3}, {Op::Sin, {}, 4},
    {Op::Cos, {}, 4},  {Op::Tan, {}, 5},   {Op::Pow, {}, 16},
};

// "The OpenCL Extension Specification", version 1.2, revision 19, section 9.5.5 (cl_khr_fp16).
const UlpLimit kHalf[] = {
    {Op::FDiv, {}, 0}, {Op::Recip, {}, 0}, {Op::Sqrt, {}, 0}, {Op::Exp, {}, 2},
    {Op::Exp2, {}, 2}, {Op::Log, {}, 2},   {Op::Log2, {}, 2}, {Op::Sin, {}, 2},
    {Op::Cos, {}, 2},  {Op::Tan, {}, 2},   {Op::Pow, {}, 4},
};

void add_limits(Target& t, uop::DType type, std::span<const UlpLimit> functions) {
  for (const Op op : kExact) t.math.limits.push_back({op, {type}, 0});
  for (const UlpLimit& row : functions) t.math.limits.push_back({row.op, {type}, row.ulps});
}

// [guide] "Qualcomm Snapdragon Mobile Platform OpenCL General Programming and Optimization",
//         80-NB295-11 Rev. C, February 2023: Adreno GPUs from A5x on are OpenCL 2.0 or 3.0 devices
//         of the full profile, with cl_khr_fp16, without f64, with 32 KiB of local memory.
// [query] what the OpenCL drivers of Adreno 640, 650, 740 and 750 answer to device queries, as
//         published with clinfo: ggml-org/llama.cpp issue 2133, xmrig/xmrig issue 2383,
//         CodeLinaro/llama.cpp pull request 17, Oblomov/clinfo issue 92.
// Where neither says anything of a GPU it is what OpenCL 1.2 promises of every device. No hardware
// has been tried.
Target adreno(std::string_view name, int64_t allocation_bytes) {
  Target t = uop::generic_target();
  t.name = name;
  // [query] CL_DEVICE_MAX_WORK_GROUP_SIZE, _MAX_WORK_ITEM_SIZES. A kernel that needs many registers
  // may get less, which CL_KERNEL_WORK_GROUP_SIZE says when it has been compiled.
  t.limits.group_size = 1024;
  std::ranges::fill(t.limits.item_sizes, 1024);
  // [guide] and [query] CL_DEVICE_LOCAL_MEM_SIZE, _LOCAL_MEM_TYPE: CL_LOCAL.
  t.limits.local_bytes = 32 << 10;
  t.limits.allocation_bytes = allocation_bytes;
  // [query] CL_DEVICE_MAX_PARAMETER_SIZE is 1024. Half of it is left to variables.
  t.limits.buffers = 64;
  // [query] CL_DEVICE_MEM_BASE_ADDR_ALIGN is 1024 bits, as everywhere.
  // [query] cl_khr_fp16, no CL_DEVICE_DOUBLE_FP_CONFIG.
  add_half(t);
  // [query] CL_DEVICE_SINGLE_FP_CONFIG and _HALF_FP_CONFIG lack CL_FP_DENORM.
  t.math.subnormals = Subnormals::Flushed;
  return t;
}

}  // namespace

void add_half(Target& target) {
  target.arithmetic = target.arithmetic | TypeSet{uop::F16};
  target.storage = without(target.storage, {uop::F16});
  add_limits(target, uop::F16, kHalf);
}

void add_double(Target& target) {
  target.arithmetic = target.arithmetic | TypeSet{uop::F64};
  target.widths.push_back({{uop::F64}, {2, 3, 4, 8, 16}});
  add_limits(target, uop::F64, kDouble);
}

std::span<const Profile> all_profiles() {
  static const Target adreno_630 = adreno("adreno-630", int64_t{512} << 20);
  static const Target adreno_660 = adreno("adreno-660", int64_t{512} << 20);
  // [query] CL_DEVICE_MAX_MEM_ALLOC_SIZE of the 740 and 750.
  static const Target adreno_740 = adreno("adreno-740", int64_t{1} << 30);
  static const Profile profiles[] = {
      {"generic", "the least that OpenCL 1.2 promises", uop::generic_target()},
      {"adreno-630", "Snapdragon 845; profile only, no hardware", adreno_630},
      {"adreno-660", "Snapdragon 888; profile only, no hardware", adreno_660},
      {"adreno-740", "Snapdragon 8 Gen 2; profile only, no hardware", adreno_740},
  };
  return profiles;
}

Target meet(const Target& a, const Target& b) {
  Target m;
  m.name = a.name == b.name ? a.name : fmt::format("{}-on-{}", a.name, b.name);
  m.limits = meet(a.limits, b.limits);
  m.arithmetic = a.arithmetic & b.arithmetic;
  m.storage = without((a.arithmetic | a.storage) & (b.arithmetic | b.storage), m.arithmetic);
  m.widths = meet(a, b, m.arithmetic | m.storage);
  m.aligned_vectors = a.aligned_vectors || b.aligned_vectors;
  m.tuning = a.tuning;
  m.math = meet(a.math, b.math, m.arithmetic);
  m.compute_queues = std::min(a.compute_queues, b.compute_queues);
  m.copy_queues = std::min(a.copy_queues, b.copy_queues);
  m.images = a.images && b.images;
  m.views = a.views && b.views;
  m.view_alignment = m.views ? std::max(a.view_alignment, b.view_alignment) : 0;
  m.sharding = a.sharding && b.sharding;
  if (a.memory && b.memory) m.memory = meet(*a.memory, *b.memory);
  if (!m.memory) m.limits.local_bytes = 0;
  return m;
}

const Target* profile(std::string_view name, bool native) {
  static const std::vector<Target> natives = [] {
    std::vector<Target> all;
    for (const Profile& p : all_profiles()) {
      all.push_back(p.target);
      all.back().math.native = kFunctions;
    }
    return all;
  }();
  const std::span<const Profile> profiles = all_profiles();
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].name == name) return native ? &natives[i] : &profiles[i].target;
  }
  return nullptr;
}

}  // namespace assay::runtime
