#include "engine/uop/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay::uop {
namespace {

using Fault = std::optional<std::string>;

constexpr std::string_view kSubnormals[] = {"kept", "flushed", "either"};
constexpr std::string_view kVisibility[] = {"at once", "after barrier"};
constexpr std::string_view kReach[] = {"subgroup", "group"};
constexpr std::string_view kStanding[] = {"nowhere", "uniform", "anywhere"};

template <typename E, size_t N>
std::string_view name_of(const std::string_view (&names)[N], E value) {
  return names[static_cast<int>(value)];
}

// "The OpenCL Specification", version 1.2, revision 19; full profile throughout.
Target make_generic() {
  Target t;
  t.name = "generic";
  // Table 4.3: least values of CL_DEVICE_MAX_WORK_GROUP_SIZE, _MAX_WORK_ITEM_SIZES, _LOCAL_MEM_SIZE
  // (32 KiB) and _MAX_MEM_ALLOC_SIZE (128 MiB). Section 5.8: a global size is one that a size_t of
  // the device holds, of 32 bits at least.
  t.limits.group_size = 1;
  std::ranges::fill(t.limits.item_sizes, 1);
  std::ranges::fill(t.limits.global_sizes, (int64_t{1} << 32) - 1);
  t.limits.local_bytes = 32 << 10;
  t.limits.allocation_bytes = 128 << 20;
  // CL_DEVICE_MAX_PARAMETER_SIZE is 1024 bytes at least, "which implies 128 arguments" of 8 bytes.
  t.limits.buffers = 128;
  // CL_DEVICE_MEM_BASE_ADDR_ALIGN: the size of the largest type, long16. Sub-buffers (5.2.1) start
  // at its multiples.
  t.limits.alignment = 128;
  t.views = true;
  t.view_alignment = 128;
  // Section 6.1: f64 and arithmetic in f16 are options; halves go through vload_half, vstore_half.
  t.arithmetic = kBool | kFixedInts | TypeSet{F32};
  t.storage = {F16};
  t.widths = {{kFixedInts | TypeSet{F16, F32}, {2, 3, 4, 8, 16}}};
  // Section 6.12.7: vloadn and vstoren ask for the alignment of an element.
  t.aligned_vectors = false;
  // Section 7.4, "Relative Error as ULPs", single precision.
  for (const Op op : {Op::Neg, Op::Add, Op::Sub, Op::Mul, Op::Fma, Op::Max, Op::Min, Op::Trunc,
                      Op::Floor, Op::Ceil, Op::Round}) {
    t.math.limits.push_back({op, {F32}, 0});
  }
  const UlpLimit limits[] = {
      {Op::FDiv, {F32}, 2.5}, {Op::Recip, {F32}, 2.5}, {Op::Sqrt, {F32}, 3}, {Op::Exp, {F32}, 3},
      {Op::Exp2, {F32}, 3},   {Op::Log, {F32}, 3},     {Op::Log2, {F32}, 3}, {Op::Sin, {F32}, 4},
      {Op::Cos, {F32}, 4},    {Op::Tan, {F32}, 5},     {Op::Pow, {F32}, 16},
  };
  t.math.limits.insert(t.math.limits.end(), std::begin(limits), std::end(limits));
  // Section 6.12.2: FP_CONTRACT can be switched off everywhere, so nothing is left to a compiler.
  t.math.contracts = false;
  // Table 4.3, CL_DEVICE_SINGLE_FP_CONFIG: CL_FP_DENORM is an option.
  t.math.subnormals = Subnormals::Either;
  // Section 5.1: any number of in-order queues can be made for a device.
  t.compute_queues = 1;
  t.copy_queues = 1;
  // Section 3.3.1: LOCAL storage is consistent between the items of a group at a barrier. Section
  // 6.12.8: all items of the group reach it, in a conditional if any one enters it, in a loop in
  // each iteration.
  t.memory = MemoryContract{};
  return t;
}

Fault limits_fault(const Limits& limits) {
  struct Claim {
    std::string_view name;
    int64_t value;
    int64_t least;
  };
  const Claim claims[] = {
      {"group size", limits.group_size, 1},
      {"item size 0", limits.item_sizes[0], 1},
      {"item size 1", limits.item_sizes[1], 1},
      {"item size 2", limits.item_sizes[2], 1},
      {"global size 0", limits.global_sizes[0], 1},
      {"global size 1", limits.global_sizes[1], 1},
      {"global size 2", limits.global_sizes[2], 1},
      {"local memory", limits.local_bytes, 0},
      {"number of buffers", limits.buffers, 1},
      {"size of an allocation", limits.allocation_bytes, 1},
      {"alignment", limits.alignment, 1},
  };
  for (const Claim& claim : claims) {
    if (claim.value >= claim.least) continue;
    return fmt::format("{} is {} when it is at least {}", claim.name, claim.value, claim.least);
  }
  if (!std::has_single_bit(static_cast<uint64_t>(limits.alignment))) {
    return fmt::format("alignment {} is no power of two", limits.alignment);
  }
  return std::nullopt;
}

Fault types_fault(const Target& target) {
  const TypeSet both = target.arithmetic & target.storage;
  if (!both.empty()) return fmt::format("{} is both computed in and only stored", to_text(both));
  for (const DType t : {Void, Index}) {
    if (!(target.arithmetic | target.storage).has(t)) continue;
    return fmt::format("{} is no type of a device", to_text(t));
  }
  return std::nullopt;
}

bool contains(TypeSet types, TypeSet part) { return (types & part) == part; }

Fault widths_fault(const Target& target) {
  TypeSet seen;
  for (const Widths& row : target.widths) {
    if (!contains(target.arithmetic | target.storage, row.over)) {
      return fmt::format("vectors of {} are of a type that the target has not", to_text(row.over));
    }
    if (!(seen & row.over).empty()) {
      return fmt::format("vectors of {} are listed twice", to_text(seen & row.over));
    }
    seen = seen | row.over;
    int before = 1;
    for (const int lanes : row.lanes) {
      if (lanes <= before) return fmt::format("vector width {} follows {}", lanes, before);
      before = lanes;
    }
  }
  return std::nullopt;
}

Fault math_fault(const Target& target) {
  OpSet limited;
  const std::vector<UlpLimit>& rows = target.math.limits;
  for (size_t i = 0; i < rows.size(); i++) {
    const UlpLimit& row = rows[i];
    const TypeSet floats = target.arithmetic & kFloats & info(row.op).over;
    if (!is_scalar(row.op) || !contains(floats, row.over) || row.over.empty()) {
      return fmt::format("{} at {} is no function of floats that the target has", to_text(row.op),
                         to_text(row.over));
    }
    if (!std::isfinite(row.ulps) || row.ulps < 0) {
      return fmt::format("{} is {} ulps off", to_text(row.op), row.ulps);
    }
    for (size_t j = 0; j < i; j++) {
      if (rows[j].op != row.op || (rows[j].over & row.over).empty()) continue;
      return fmt::format("{} has two limits at {}", to_text(row.op),
                         to_text(rows[j].over & row.over));
    }
    limited.insert(row.op);
  }
  for (int i = 0; i < kOpCount; i++) {
    if (!target.math.native.has(Op(i)) || limited.has(Op(i))) continue;
    return fmt::format("native {} has no limit", to_text(Op(i)));
  }
  return std::nullopt;
}

Fault tuning_fault(const Tuning& tuning) {
  struct Claim {
    std::string_view name;
    int64_t value;
  };
  const Claim claims[] = {{"items", tuning.items},
                          {"busy", tuning.busy},
                          {"share", tuning.share},
                          {"lanes", tuning.lanes},
                          {"tile", tuning.tile}};
  for (const Claim& claim : claims) {
    if (claim.value < 1) return fmt::format("tuned for {} {}", claim.value, claim.name);
  }
  return std::nullopt;
}

Fault memory_fault(const Target& target) {
  if (target.compute_queues < 1) {
    return fmt::format("{} compute queues run no kernel", target.compute_queues);
  }
  if (target.copy_queues < 0) return fmt::format("{} copy queues", target.copy_queues);
  if (target.limits.local_bytes > 0 && !target.memory) {
    return fmt::format("{} bytes of local memory without a memory contract",
                       target.limits.local_bytes);
  }
  if (!target.views) {
    if (target.view_alignment == 0) return std::nullopt;
    return fmt::format("view alignment {} without views", target.view_alignment);
  }
  if (target.view_alignment < 1 ||
      !std::has_single_bit(static_cast<uint64_t>(target.view_alignment))) {
    return fmt::format("view alignment {} is no power of two", target.view_alignment);
  }
  return std::nullopt;
}

std::string joined(std::span<const int64_t> numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

}  // namespace

const Target& generic_target() {
  static const Target target = make_generic();
  return target;
}

std::optional<double> ulp_limit(const Target& target, Op op, DType t) {
  for (const UlpLimit& row : target.math.limits) {
    if (row.op == op && row.over.has(t)) return row.ulps;
  }
  return std::nullopt;
}

std::span<const int> widths_of(const Target& target, DType t) {
  for (const Widths& row : target.widths) {
    if (row.over.has(t)) return row.lanes;
  }
  return {};
}

std::optional<std::string> target_error(const Target& target) {
  if (target.name.empty()) return "a target has no name";
  if (target.name.find_first_of(" \t\r\n") != std::string::npos) {
    return fmt::format("target name \"{}\" holds white space", target.name);
  }
  if (Fault fault = limits_fault(target.limits)) return fault;
  if (Fault fault = types_fault(target)) return fault;
  if (Fault fault = widths_fault(target)) return fault;
  if (Fault fault = math_fault(target)) return fault;
  if (Fault fault = tuning_fault(target.tuning)) return fault;
  return memory_fault(target);
}

std::string to_text(const Target& target) {
  const Limits& limits = target.limits;
  const MathRules& math = target.math;
  std::string text = fmt::format("target {}\n", target.name);
  text += fmt::format("group size {}\n", limits.group_size);
  text += fmt::format("item sizes {}\n", joined(limits.item_sizes));
  text += fmt::format("global sizes {}\n", joined(limits.global_sizes));
  text += fmt::format("local bytes {}\n", limits.local_bytes);
  text += fmt::format("buffers {}\n", limits.buffers);
  text += fmt::format("allocation bytes {}\n", limits.allocation_bytes);
  text += fmt::format("alignment {}\n", limits.alignment);
  text += fmt::format("arithmetic {}\n", to_text(target.arithmetic));
  text += fmt::format("storage {}\n", to_text(target.storage));
  for (const Widths& row : target.widths) {
    text += fmt::format("vectors of {}: {}\n", to_text(row.over), fmt::join(row.lanes, " "));
  }
  text += fmt::format("aligned vectors {}\n", target.aligned_vectors);
  for (const UlpLimit& row : math.limits) {
    text += fmt::format("ulps of {} at {}: {}\n", to_text(row.op), to_text(row.over), row.ulps);
  }
  text += fmt::format("contracts {}\n", math.contracts);
  text += fmt::format("subnormals {}\n", name_of(kSubnormals, math.subnormals));
  text += "native";
  for (int i = 0; i < kOpCount; i++) {
    if (math.native.has(Op(i))) text += fmt::format(" {}", to_text(Op(i)));
  }
  text += fmt::format("\nqueues {} compute {} copy\n", target.compute_queues, target.copy_queues);
  text += fmt::format("images {}\n", target.images);
  text += fmt::format("views {} at {}\n", target.views, target.view_alignment);
  text += fmt::format("sharding {}\n", target.sharding);
  const Tuning& tuning = target.tuning;
  text += fmt::format("tuned for items {} busy {} share {} lanes {} tile {}\n", tuning.items,
                      tuning.busy, tuning.share, tuning.lanes, tuning.tile);
  text += fmt::format("items are lanes {}\n", tuning.items_are_lanes);
  if (!target.memory) return text + "no memory contract\n";
  const MemoryContract& memory = *target.memory;
  text += fmt::format("local stores seen {}\n", name_of(kVisibility, memory.local));
  text += fmt::format("barrier reached by {}\n", name_of(kReach, memory.barrier));
  text += fmt::format("barrier in branch {}\n", name_of(kStanding, memory.in_branch));
  text += fmt::format("barrier in loop {}\n", name_of(kStanding, memory.in_loop));
  return text;
}

Key digest(const Target& target) {
  const std::string text = to_text(target);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace assay::uop
