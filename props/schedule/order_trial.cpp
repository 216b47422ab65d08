#include "props/schedule/order_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/uop/dtype.h"
#include "engine/uop/value.h"
#include "engine/uop/walk.h"
#include "props/schedule/call_access.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;

constexpr int64_t kMostTrialBytes = int64_t{1} << 28;
constexpr uint64_t kTrialSeeds = 4;

uint64_t mixed(uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

// A number that few operations take out of what can be told apart: integers are small, so that they
// can be indices; floats are eighths, with odd seeds above zero.
uop::Value trial_number(uop::DType t, uint64_t seed, uint64_t random) {
  const auto small = static_cast<int64_t>(random % 4);
  if (!uop::is_float(t)) return uop::of_int(t, t == uop::Bool ? small % 2 : small);
  const auto eighths = static_cast<double>(random % 32 + 1) / 8;
  return uop::of_double(t, seed % 2 == 1 || random >> 60 < 8 ? eighths : -eighths);
}

std::string element_text(uop::DType t, std::span<const std::byte> bytes) {
  uop::Value v{t, 0};
  std::memcpy(&v.bits, bytes.data(), bytes.size());
  const int64_t unused = 64 - 8 * static_cast<int64_t>(bytes.size());
  if (uop::kind_of(t) == uop::Kind::Signed) {
    v.bits = static_cast<uint64_t>(static_cast<int64_t>(v.bits << unused) >> unused);
  }
  return uop::to_text(v);
}

// The call as those of the devices of its stacks, one each.
std::vector<Ref> by_device(uop::Graph& g, Ref call) {
  size_t devices = 1;
  for (const Ref a : call->src.subspan(1)) {
    if (a->op == Op::MStack) devices = std::max(devices, a->src.size());
  }
  std::vector<Ref> calls;
  for (size_t d = 0; d < devices; d++) {
    std::vector<Ref> sources(call->src.begin(), call->src.end());
    for (Ref& s : sources) {
      if (s->op == Op::MStack) s = s->src[std::min(d, s->src.size() - 1)];
    }
    calls.push_back(g.with_sources(call, sources));
  }
  return calls;
}

}  // namespace

std::string storage_name(Ref storage) {
  return fmt::format("{} {}", storage->op == Op::Param ? "param" : "buffer", storage->arg.number());
}

OrderTrial::OrderTrial(uop::Graph& g, Ref linear,
                       std::span<const std::pair<std::string, int64_t>> variables, uint64_t seed)
    : g_(g), linear_(linear), given_(variables.begin(), variables.end()), seed_(seed) {
  for (const Ref u : uop::toposort(g, linear, uop::Extent::OutsideBodies)) {
    if (u->op == Op::Buffer) next_buffer_ = std::max(next_buffer_, u->arg.number() + 1);
  }
  const CallAccesses accesses(g, linear);
  for (size_t s = 0; s < accesses.storages().size(); s++) {
    const std::span<const uint32_t> on = accesses.on(static_cast<int32_t>(s));
    const bool is_read_first = accesses.all()[on[0]].use.reads;
    const Ref storage = over_buffers(accesses.storages()[s]);
    storages_.emplace_back(storage, storage_name(accesses.storages()[s]));
    if (is_read_first || accesses.storages()[s]->op == Op::Param) filled_.push_back(storage);
  }
  for (const Ref call : linear->src) calls_.push_back(over_buffers_by_device(call));
}

std::vector<Ref> OrderTrial::over_buffers_by_device(Ref call) {
  std::vector<Ref> sources = {call->src[0]};
  for (const Ref a : call->src.subspan(1)) sources.push_back(over_buffers(a));
  return by_device(g_, g_.with_sources(call, sources));
}

// The argument with a BUFFER in the place of each PARAM.
Ref OrderTrial::over_buffers(Ref argument) {
  uop::Substitution map;
  for (const Ref u : uop::toposort(g_, argument, uop::Extent::OutsideBodies)) {
    if (u->op != Op::Param) continue;
    const auto known = std::find_if(params_.begin(), params_.end(),
                                    [&](const auto& pair) { return pair.first == u; });
    if (known != params_.end()) {
      map.emplace(u, known->second);
      continue;
    }
    const uop::Arg place =
        uop::Arg::place(static_cast<int32_t>(next_buffer_++), uop::AddrSpace::Global);
    params_.emplace_back(u, g_.make(Op::Buffer, u->dtype, u->src, place));
    map.emplace(u, params_.back().second);
  }
  return map.empty() ? argument : uop::substitute(g_, argument, map, uop::Extent::OutsideBodies);
}

void OrderTrial::observe(Ref storage) {
  const Ref buffer = over_buffers(storage);
  observed_.emplace_back(buffer, storage_name(storage));
  if (std::find(filled_.begin(), filled_.end(), buffer) == filled_.end()) {
    filled_.push_back(buffer);
  }
}

std::vector<OrderTrial::Case> OrderTrial::cases() const {
  std::vector<interpreter::Variables> values = {given_};
  if (given_.empty()) {
    values.assign(3, {});
    for (const Ref u : uop::toposort(g_, linear_)) {
      if (u->op != Op::Variable || u->arg.numbers().size() < 2) continue;
      const int64_t lo = u->arg.numbers()[0];
      const int64_t hi = u->arg.numbers()[1];
      const std::string name(u->arg.name());
      values[0][name] = hi;
      values[1][name] = lo + (hi - lo) / 2;
      values[2][name] = lo;
    }
    if (values[0].empty()) values.resize(1);
  }
  std::vector<Case> all;
  for (const interpreter::Variables& v : values) {
    for (uint64_t i = 0; i < kTrialSeeds; i++) all.push_back({v, seed_ + i});
  }
  return all;
}

void OrderTrial::fill(Memory& memory, uint64_t seed) {
  for (size_t s = 0; s < filled_.size(); s++) {
    const uop::DType t = filled_[s]->dtype;
    const std::span<std::byte> bytes = memory.of(g_, filled_[s]);
    const auto width = static_cast<size_t>(uop::bytes_of(t));
    for (size_t i = 0; i * width < bytes.size(); i++) {
      const uint64_t random = mixed(mixed(seed * 1'000'003 + s) + i);
      const uint64_t bits = trial_number(t, seed, random).bits;
      std::memcpy(bytes.data() + i * width, &bits, width);
    }
  }
}

std::string OrderTrial::run(std::span<const Ref> calls, const Case& how, Memory& memory) {
  const Ref part = g_.make(Op::Linear, uop::Void, calls, g_.info("", {}));
  const Result<bool> done = interpreter::run(g_, part, how.variables, memory);
  return done.ok() ? std::string() : done.error().message;
}

OrderTrial::Steps OrderTrial::ordered(std::span<const int> order) const {
  Steps steps;
  for (const int place : order) {
    const std::vector<Ref>& calls = calls_[static_cast<size_t>(place)];
    steps.insert(steps.end(), calls.begin(), calls.end());
  }
  return steps;
}

std::string OrderTrial::difference(const Names& of, const Memory& right,
                                   const Memory& wrong) const {
  for (const auto& [buffer, name] : of) {
    const int64_t number = buffer->arg.number();
    if (!right.has(number) || !wrong.has(number)) continue;
    const std::span<const std::byte> a = right.at(number);
    const std::span<const std::byte> b = wrong.at(number);
    const auto width = static_cast<size_t>(uop::bytes_of(buffer->dtype));
    for (size_t i = 0; i + width <= std::min(a.size(), b.size()); i += width) {
      if (std::memcmp(a.data() + i, b.data() + i, width) == 0) continue;
      return fmt::format("leaves {} at element {} of {} where {} is right",
                         element_text(buffer->dtype, b.subspan(i, width)), i / width, name,
                         element_text(buffer->dtype, a.subspan(i, width)));
    }
  }
  return {};
}

// `run` makes of filled memory what is right and what is to be judged.
template <typename Run>
TrialResult OrderTrial::compare(const Names& of, Run run_both) {
  int64_t bytes = 0;
  for (const auto& storage : storages_) {
    const int64_t more = storage_bytes(g_, storage.first);
    if (more > kMostTrialBytes - bytes) return {false, "storage is too large to run", false};
    bytes += more;
  }
  std::string why = "no input told the two apart";
  bool is_run = false;
  for (const Case& how : cases()) {
    Memory filled;
    fill(filled, how.seed);
    Memory right = filled;
    Memory wrong = filled;
    const auto [right_error, wrong_error] = run_both(how, right, wrong);
    if (!right_error.empty()) {
      why = fmt::format("what is right does not run: {}", right_error);
      continue;
    }
    std::string found = wrong_error.empty() ? difference(of, right, wrong)
                                            : fmt::format("does not run: {}", wrong_error);
    is_run = is_run || wrong_error.empty();
    if (!found.empty()) return {true, fmt::format("{} (inputs {})", found, how.seed), is_run};
  }
  return {false, why, is_run};
}

namespace {

std::vector<int> as_listed(size_t calls) {
  std::vector<int> order(calls);
  for (size_t i = 0; i < calls; i++) order[i] = static_cast<int>(i);
  return order;
}

}  // namespace

TrialResult OrderTrial::runs() {
  const Steps listed = ordered(as_listed(calls_.size()));
  return compare([&](const Case& how, Memory&, Memory& wrong) {
    return std::pair(std::string(), run(listed, how, wrong));
  });
}

TrialResult OrderTrial::in_order(std::span<const int> order) {
  const Steps listed = ordered(as_listed(calls_.size()));
  const Steps other = ordered(order);
  return compare([&](const Case& how, Memory& right, Memory& wrong) {
    std::string right_error = run(listed, how, right);
    return std::pair(std::move(right_error), run(other, how, wrong));
  });
}

TrialResult OrderTrial::at_once(std::span<const int> order, size_t at) {
  const Steps listed = ordered(as_listed(calls_.size()));
  const Steps before = ordered(order.first(at));
  const Steps one = ordered(order.subspan(at, 1));
  const Steps two = ordered(order.subspan(at + 1, 1));
  const Steps rest = ordered(order.subspan(at + 2));
  // Both from the same memory; then what the first changed is laid over what the second left.
  const auto together = [&](const Steps& first, const Steps& second, const Case& how, Memory& m) {
    std::string error = run(before, how, m);
    Memory a = m;
    Memory b = m;
    if (error.empty()) error = run(first, how, a);
    if (error.empty()) error = run(second, how, b);
    for (const auto& [s, name] : storages_) {
      if (!error.empty() || !a.has(s->arg.number())) continue;
      const std::span<const std::byte> old = m.of(g_, s);
      const std::span<const std::byte> changed = a.at(s->arg.number());
      const std::span<std::byte> merged = b.of(g_, s);
      for (size_t i = 0; i < merged.size(); i++) {
        if (old[i] != changed[i]) merged[i] = changed[i];
      }
    }
    m = std::move(b);
    return error.empty() ? run(rest, how, m) : error;
  };
  for (const bool is_turned : {false, true}) {
    TrialResult result = compare([&](const Case& how, Memory& right, Memory& wrong) {
      std::string right_error = run(listed, how, right);
      return std::pair(std::move(right_error),
                       is_turned ? together(two, one, how, wrong) : together(one, two, how, wrong));
    });
    if (result.differs || is_turned) return result;
  }
  return {};
}

TrialResult OrderTrial::of_call(std::span<const int> order, int who, int over) {
  const std::vector<int> list = as_listed(calls_.size());
  const auto place = std::find(order.begin(), order.end(), who) - order.begin();
  const Steps listed = ordered(std::span(list).first(static_cast<size_t>(who)));
  const Steps other = ordered(order.first(static_cast<size_t>(place)));
  const Steps one = ordered(std::span(&who, 1));
  const Steps last = over < 0 ? Steps{} : ordered(std::span(&over, 1));
  return compare(storages_, [&](const Case& how, Memory& right, Memory& wrong) {
    for (const auto& [s, name] : storages_) {
      right.of(g_, s);
      wrong.of(g_, s);
    }
    std::string right_error = run(listed, how, right);
    std::string wrong_error = run(other, how, wrong);
    const Memory right_before = right;
    const Memory wrong_before = wrong;
    if (right_error.empty()) right_error = run(one, how, right);
    if (wrong_error.empty()) wrong_error = run(one, how, wrong);
    Memory wrong_end = wrong;
    if (wrong_error.empty()) wrong_error = run(last, how, wrong_end);
    if (right_error.empty() && wrong_error.empty()) {
      keep_changed(right_before, right, wrong_before, wrong, wrong_end);
    }
    wrong = std::move(wrong_end);
    return std::pair(std::move(right_error), std::move(wrong_error));
  });
}

// What the call changed in neither memory is no part of what it does.
void OrderTrial::keep_changed(const Memory& right_before, Memory& right, const Memory& wrong_before,
                              const Memory& wrong, Memory& wrong_end) {
  for (const auto& [s, name] : storages_) {
    const int64_t number = s->arg.number();
    const std::span<std::byte> a = right.of(g_, s);
    const std::span<std::byte> b = wrong_end.of(g_, s);
    for (size_t i = 0; i < a.size(); i++) {
      const bool is_changed =
          right_before.at(number)[i] != a[i] || wrong_before.at(number)[i] != wrong.at(number)[i];
      if (!is_changed) a[i] = b[i] = std::byte{0};
    }
  }
}

TrialResult OrderTrial::against(std::span<const Ref> states) {
  const Steps listed = ordered(as_listed(calls_.size()));
  std::vector<Ref> over;
  std::vector<Ref> into;
  for (const Ref s : states) {
    const std::vector<ArgumentBytes> parts = argument_bytes(g_, s);
    if (parts.size() != 1) continue;  // a stack of several devices
    over.push_back(over_buffers(s));
    into.push_back(over_buffers(parts[0].storage));
  }
  return compare([&](const Case& how, Memory& right, Memory& wrong) {
    std::string right_error;
    Memory start = right;
    const auto values = interpreter::evaluate(g_, over, how.variables, start);
    if (!values.ok()) right_error = values.error().message;
    for (size_t i = 0; i < over.size() && values.ok(); i++) {
      const std::span<std::byte> bytes = right.of(g_, into[i]);
      const std::vector<std::byte>& value = values.value()[i].bytes;
      std::copy_n(value.begin(), std::min(value.size(), bytes.size()), bytes.begin());
    }
    return std::pair(std::move(right_error), run(listed, how, wrong));
  });
}

TrialResult OrderTrial::against(Ref other) {
  const Steps listed = ordered(as_listed(calls_.size()));
  Steps others;
  for (const Ref call : other->src) {
    const std::vector<Ref> calls = over_buffers_by_device(call);
    others.insert(others.end(), calls.begin(), calls.end());
  }
  return compare([&](const Case& how, Memory& right, Memory& wrong) {
    std::string right_error = run(others, how, right);
    return std::pair(std::move(right_error), run(listed, how, wrong));
  });
}

}  // namespace assay::props
