#include "oracles/workgroup/sim.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/runtime/profiles.h"
#include "engine/uop/walk.h"
#include "oracles/workgroup/chance.h"

namespace assay::workgroup {
namespace {

using runtime::Command;
using runtime::Done;
using runtime::Outcome;
using runtime::Signature;
using runtime::Status;
using runtime::View;
using uop::DType;
using uop::Op;
using uop::Ref;
using uop::TypeSet;

using Kind = Command::Kind;

// Node executions a millisecond, to count time by.
constexpr int64_t kNodesPerMs = 100'000;

uop::Target make_target() {
  uop::Target t = uop::generic_target();
  t.name = "sim";
  t.limits.group_size = 1024;
  std::fill(std::begin(t.limits.item_sizes), std::end(t.limits.item_sizes), 1024);
  t.limits.local_bytes = 64 << 10;
  t.limits.allocation_bytes = int64_t{1} << 40;
  t.arithmetic = uop::kBool | uop::kFixedInts | uop::kFloats;
  t.storage = {};
  t.widths = {{uop::kFixedInts | uop::kFloats, {2, 3, 4, 8, 16}}};
  const TypeSet wide = {DType::F32, DType::F64};
  const TypeSet narrow = {DType::F16, DType::BF16, DType::E4M3, DType::E5M2};
  t.math.limits.clear();
  for (const Op op : {Op::Neg, Op::Add, Op::Sub, Op::Mul, Op::Fma, Op::Max, Op::Min, Op::Trunc,
                      Op::Floor, Op::Ceil, Op::Round}) {
    t.math.limits.push_back({op, uop::kFloats, 0});
  }
  for (const Op op : {Op::FDiv, Op::Recip, Op::Sqrt}) {
    t.math.limits.push_back({op, {DType::F32}, op == Op::Sqrt ? 3 : 2.5});
    t.math.limits.push_back({op, {DType::F64}, 0});
    t.math.limits.push_back({op, narrow, 1});
  }
  for (const Op op : {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Tan, Op::Pow}) {
    const double ulps = op == Op::Pow ? 16 : op == Op::Tan ? 5 : 4;
    t.math.limits.push_back({op, wide, ulps});
    t.math.limits.push_back({op, narrow, 1});
  }
  t.math.contracts = true;
  t.math.subnormals = uop::Subnormals::Kept;
  return t;
}

std::string_view standing_text(uop::Standing standing) {
  static constexpr std::string_view kTexts[] = {"nowhere", "where all take the same way",
                                                "anywhere"};
  return kTexts[static_cast<int>(standing)];
}

std::string contract_text(const uop::Target& target) {
  if (!target.memory) return "no memory contract";
  const uop::MemoryContract& c = *target.memory;
  return fmt::format(
      "the memory contract has barriers reached by the {}, in loops {}, in branches {}",
      c.barrier == uop::Reach::Group ? "group" : "subgroup", standing_text(c.in_loop),
      standing_text(c.in_branch));
}

// What of a launch the target does not allow.
std::string limit_error(const uop::Limits& limits, const Signature& signature,
                        const Launch& sizes) {
  if (sizes.group_size() > limits.group_size)
    return fmt::format("groups of {} work-items when the target allows {}", sizes.group_size(),
                       limits.group_size);
  for (size_t axis = 0; axis < 3; axis++) {
    if (sizes.items[axis] > limits.item_sizes[axis])
      return fmt::format("{} work-items along axis {} when the target allows {}", sizes.items[axis],
                         axis, limits.item_sizes[axis]);
  }
  if (signature.local_bytes > limits.local_bytes)
    return fmt::format("{} bytes of LOCAL storage when the target allows {}", signature.local_bytes,
                       limits.local_bytes);
  if (std::ssize(signature.slots) > limits.buffers)
    return fmt::format("{} buffers when the target allows {}", signature.slots.size(),
                       limits.buffers);
  return "";
}

class Sim final : public runtime::Device {
 public:
  explicit Sim(SimOptions options)
      : Device(options.name, options.target),
        options_(std::move(options)),
        chance_(options_.seed) {}

  std::string driver() const override { return "work-group machine"; }

 private:
  // Bytes, and of each whether it was written.
  struct Storage {
    std::vector<std::byte> own;
    std::span<std::byte> bytes;
    std::vector<uint8_t> known;
  };
  struct Kernel {
    std::unique_ptr<uop::Graph> graph;
    Ref linear = nullptr;
  };

  Result<bool> make_storage(uint32_t number, int64_t bytes) override;
  Result<bool> adopt_storage(uint32_t number, std::span<std::byte> memory) override;
  void drop_storage(uint32_t number) override { storages_[number] = {}; }
  std::vector<Result<bool>> make_kernels(uop::Graph& g, std::span<const Ref> linears,
                                         std::span<const uint32_t> numbers,
                                         uop::Watch* watch) override;
  void drop_kernel(uint32_t number) override { kernels_[number] = {}; }
  Result<bool> start(const runtime::Batch& batch) override;
  Outcome complete(const runtime::Batch&) override { return std::move(outcome_); }
  Result<bool> restart() override {
    storages_.clear();
    kernels_.clear();
    return true;
  }

  Storage& storage_of(const View& view) { return storages_[view.storage.number]; }
  std::span<std::byte> bytes_of(const View& view) {
    return storage_of(view).bytes.subspan(static_cast<size_t>(view.offset),
                                          static_cast<size_t>(view.bytes));
  }
  std::span<uint8_t> known_of(const View& view) {
    return std::span(storage_of(view).known)
        .subspan(static_cast<size_t>(view.offset), static_cast<size_t>(view.bytes));
  }
  bool writes(const Command& c, size_t view) const;
  bool conflict(const Command& a, const Command& b) const;
  std::string unordered(const runtime::Batch& batch, size_t& place) const;
  std::vector<size_t> order_of(const runtime::Batch& batch);
  void fail(Status status, size_t command, std::string why);
  void run(const runtime::Batch& batch, size_t command);
  void launch(const runtime::Batch& batch, size_t command);

  SimOptions options_;
  Chance chance_;
  std::vector<Storage> storages_;
  std::vector<Kernel> kernels_;
  Outcome outcome_;
};

Result<bool> Sim::make_storage(uint32_t number, int64_t bytes) {
  if (number >= storages_.size()) storages_.resize(number + size_t{1});
  Storage& s = storages_[number];
  s.own.assign(static_cast<size_t>(bytes), std::byte{0xA5});
  s.bytes = s.own;
  s.known.assign(s.own.size(), 0);
  return true;
}

Result<bool> Sim::adopt_storage(uint32_t number, std::span<std::byte> memory) {
  if (number >= storages_.size()) storages_.resize(number + size_t{1});
  storages_[number] = {{}, memory, std::vector<uint8_t>(memory.size(), 1)};
  return true;
}

std::vector<Result<bool>> Sim::make_kernels(uop::Graph& g, std::span<const Ref> linears,
                                            std::span<const uint32_t> numbers, uop::Watch*) {
  for (size_t i = 0; i < linears.size(); i++) {
    if (numbers[i] >= kernels_.size()) kernels_.resize(numbers[i] + size_t{1});
    Kernel& k = kernels_[numbers[i]];
    k.graph = std::make_unique<uop::Graph>();
    k.linear = uop::copy_to(*k.graph, g, linears[i]);
  }
  return std::vector<Result<bool>>(linears.size(), true);
}

// Whether a command writes one of its views.
bool Sim::writes(const Command& c, size_t view) const {
  if (c.kind != Kind::Launch) return c.kind != Kind::Read && view == 0;
  const std::vector<Signature::Slot>& slots = signature_at(c.kernel.number).slots;
  return std::any_of(slots.begin(), slots.end(), [&](const Signature::Slot& s) {
    return static_cast<size_t>(s.slot) == view && s.is_written;
  });
}

bool Sim::conflict(const Command& a, const Command& b) const {
  for (size_t i = 0; i < a.views.size(); i++) {
    for (size_t j = 0; j < b.views.size(); j++) {
      const View& x = a.views[i];
      const View& y = b.views[j];
      const bool overlap = x.storage.number == y.storage.number && x.offset < y.offset + y.bytes &&
                           y.offset < x.offset + x.bytes;
      if (overlap && (writes(a, i) || writes(b, j))) return true;
    }
  }
  return false;
}

// Two commands that conflict though neither waits for the other, as a sentence; `place` is the
// later one's.
std::string Sim::unordered(const runtime::Batch& batch, size_t& place) const {
  const size_t n = batch.commands.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (size_t i = 0; i < n; i++) {
    for (const int32_t wait : batch.commands[i].waits) {
      const auto w = static_cast<size_t>(wait);
      before[i][w] = true;
      for (size_t j = 0; j < w; j++) before[i][j] = before[i][j] || before[w][j];
    }
    for (size_t j = 0; j < i; j++) {
      if (before[i][j] || !conflict(batch.commands[j], batch.commands[i])) continue;
      place = i;
      return fmt::format("commands {} and {} touch the same bytes and neither waits", j, i);
    }
  }
  return "";
}

// An order that waits allow: as they stand, or a random one.
std::vector<size_t> Sim::order_of(const runtime::Batch& batch) {
  std::vector<size_t> order(batch.commands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!options_.is_random) return order;
  std::vector<int> open(order.size());
  std::vector<std::vector<size_t>> users(order.size());
  std::vector<size_t> ready;
  for (size_t i = 0; i < order.size(); i++) {
    open[i] = static_cast<int>(batch.commands[i].waits.size());
    for (const int32_t wait : batch.commands[i].waits)
      users[static_cast<size_t>(wait)].push_back(i);
    if (open[i] == 0) ready.push_back(i);
  }
  for (size_t& next : order) {
    const size_t picked = chance_.below(ready.size());
    next = ready[picked];
    ready[picked] = ready.back();
    ready.pop_back();
    for (const size_t user : users[next]) {
      if (--open[user] == 0) ready.push_back(user);
    }
  }
  return order;
}

void Sim::fail(Status status, size_t command, std::string why) {
  outcome_.status = status;
  outcome_.command = static_cast<int32_t>(command);
  outcome_.why = std::move(why);
  outcome_.done[command].status = status;
}

Result<bool> Sim::start(const runtime::Batch& batch) {
  outcome_ = {};
  outcome_.done.resize(batch.commands.size());
  size_t place = 0;
  if (std::string why = unordered(batch, place); !why.empty())
    fail(Status::Fault, place, std::move(why));
  for (const size_t i : order_of(batch)) {
    if (outcome_.status == Status::Ok) {
      run(batch, i);
    } else {
      outcome_.done[i].status = outcome_.status;
    }
  }
  return true;
}

void Sim::run(const runtime::Batch& batch, size_t command) {
  const Command& c = batch.commands[command];
  if (c.kind == Kind::Launch) return launch(batch, command);
  const std::span<std::byte> to = bytes_of(c.views[0]);
  const std::span<uint8_t> known = known_of(c.views[0]);
  if (c.kind == Kind::Read) {
    std::copy(to.begin(), to.end(), c.into.begin());
    return;
  }
  std::fill(known.begin(), known.end(), uint8_t{1});
  if (c.kind == Kind::Fill) std::fill(to.begin(), to.end(), std::byte{c.byte});
  if (c.kind == Kind::Write) std::copy(c.from.begin(), c.from.end(), to.begin());
  if (c.kind != Kind::Copy) return;
  const std::span<const std::byte> from = bytes_of(c.views[1]);
  const std::span<const uint8_t> from_known = known_of(c.views[1]);
  std::copy(from.begin(), from.end(), to.begin());
  std::copy(from_known.begin(), from_known.end(), known.begin());
}

void Sim::launch(const runtime::Batch& batch, size_t command) {
  const Command& c = batch.commands[command];
  const Signature& signature = signature_at(c.kernel.number);
  const Kernel& kernel = kernels_[c.kernel.number];
  // It has been asked for before.
  const Launch launch = signature.sizes(batch.variables).value();
  if (launch.work_items() == 0) return;
  const auto told = [&](std::string_view what) {
    return fmt::format("kernel {}: {}", signature.name, what);
  };
  if (const std::string why = limit_error(target().limits, signature, launch); !why.empty())
    return fail(Status::Fault, command, told(why));
  std::vector<Argument> arguments;
  for (const View& view : c.views) arguments.push_back({bytes_of(view), known_of(view)});
  Variables variables(batch.variables.begin(), batch.variables.end());
  Options options;
  if (options_.is_random) options.schedule = interleavings()[chance_.below(interleavings().size())];
  options.schedule.seed = chance_.next();
  options.adversary = options_.adversary;
  if (batch.limit_ms > 0) options.budget = batch.limit_ms * kNodesPerMs;
  const auto report =
      execute(*kernel.graph, kernel.linear, arguments, variables, launch, target(), options);
  if (!report.ok()) return fail(Status::Fault, command, told(report.error().message));
  if (report.value().is_stopped)
    return fail(Status::Timeout, command,
                told(fmt::format("takes more than {} node executions", options.budget)));
  const std::vector<Finding>& findings = report.value().findings;
  if (findings.empty()) return;
  std::string text = findings[0].text;
  if (findings.size() > 1) text += fmt::format("; and {} more", findings.size() - 1);
  fail(Status::Fault, command,
       told(fmt::format("{}; {} ({})", text, contract_text(target()), options.schedule.name)));
}

struct Mode {
  std::string_view name;
  bool is_random;
  bool is_adversary;
};
constexpr Mode kModes[] = {{"random", true, false}, {"adversary", true, true}, {"", false, false}};

Result<std::unique_ptr<runtime::Device>> open_sim(std::string_view rest,
                                                  const runtime::OpenOptions& options) {
  const Mode* mode = std::begin(kModes);
  while (!rest.starts_with(mode->name)) ++mode;
  const std::string_view number = rest.substr(mode->name.size());
  const bool is_number =
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || rest.empty())
    return Error{fmt::format("no simulated device is named {}; there are 0, random, adversary",
                             quoted(rest))};
  SimOptions sim;
  sim.name = fmt::format("sim:{}", rest);
  sim.seed = options.seed;
  sim.is_random = mode->is_random;
  if (mode->is_adversary) sim.adversary = Adversary{options.seed};
  if (options.profile != nullptr) sim.target = runtime::meet(*options.profile, sim_target());
  return make_sim(std::move(sim));
}

Result<std::vector<runtime::Listed>> list_sims(const runtime::OpenOptions&) {
  return std::vector<runtime::Listed>{
      {"sim:0", "work-group machine, in lockstep", sim_target()},
      {"sim:random", "work-group machine, in random orders", sim_target()},
      {"sim:adversary", "work-group machine that uses every freedom", sim_target()},
  };
}

}  // namespace

const uop::Target& sim_target() {
  static const uop::Target target = make_target();
  return target;
}

std::unique_ptr<runtime::Device> make_sim(SimOptions options) {
  return std::make_unique<Sim>(std::move(options));
}

const runtime::DeviceKind& sim_kind() {
  static constexpr runtime::DeviceKind kKind = {"sim", "the work-group machine", open_sim,
                                                list_sims};
  return kKind;
}

}  // namespace assay::workgroup
