#include "oracles/passes/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/uop/bounds.h"
#include "engine/uop/pass.h"
#include "engine/uop/sample.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/interpreter/numbers.h"
#include "oracles/interpreter/sizes.h"

namespace assay::oracles {
namespace {

using interpreter::StepOrder;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Value;

constexpr int64_t kMostElements = int64_t{1} << 24;

Value value_at(DType t, std::span<const std::byte> bytes, size_t i) {
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  Value v = {t, 0};
  std::memcpy(&v.bits, &bytes[i * width], width);
  const int unused = 64 - uop::bits_of(t);
  if (uop::kind_of(t) == uop::Kind::Signed)
    v.bits = static_cast<uint64_t>(static_cast<int64_t>(v.bits << unused) >> unused);
  return v;
}

// The distance from 1 to the next number of a float type.
double epsilon(DType t) {
  const double one = uop::as_double(uop::one_of(t));
  const Value next = {t, uop::one_of(t).bits + 1};
  return uop::as_double(next) - one;
}

// How far two elements of an argument may lie apart.
double allowance(DType t, std::span<const std::byte> wanted, Tolerance tolerance) {
  if (!uop::is_float(t) || tolerance.ulps == 0) return 0;
  double largest = tolerance.most;
  for (size_t i = 0; i * static_cast<size_t>(uop::bytes_of(t)) < wanted.size(); i++) {
    const double x = std::abs(uop::as_double(value_at(t, wanted, i)));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return tolerance.ulps * epsilon(t) * largest;
}

bool agree(Value a, Value b, double apart) {
  if (a == b) return true;
  if (!uop::is_float(a.dtype)) return false;
  const double x = uop::as_double(a);
  const double y = uop::as_double(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= apart;
}

// The type and size of each parameter, by slot: `room` is the largest size for any variables.
struct Parameters {
  std::vector<DType> types;
  std::vector<int64_t> sizes;
  std::vector<int64_t> room;
};

Result<Parameters> parameters_of(Graph& g, Ref kernel, const interpreter::Variables& variables) {
  Parameters p;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Param) continue;
    const auto slot = static_cast<size_t>(u->arg.number());
    if (u->src.empty()) return Error{fmt::format("parameter {} has no size", slot)};
    ASSAY_TRY(size, interpreter::size_value(g, u->src[0], variables));
    if (slot >= p.types.size()) {
      p.types.resize(slot + 1, DType::Void);
      p.sizes.resize(slot + 1, 0);
      p.room.resize(slot + 1, 0);
    }
    p.types[slot] = u->dtype;
    p.sizes[slot] = size;
    const uop::Bounds bounds = uop::bounds(g, u->src[0]);
    if (bounds.hi > kMostElements) return Error{fmt::format("parameter {} is too large", slot)};
    p.room[slot] = std::max(size, static_cast<int64_t>(bounds.hi));
  }
  return p;
}

}  // namespace

Result<KernelInputs> small_inputs(Graph& g, Ref kernel, const interpreter::Variables& variables,
                                  uint64_t seed) {
  ASSAY_TRY(p, parameters_of(g, kernel, variables));
  KernelInputs inputs;
  inputs.variables = variables;
  uop::Random random(seed);
  for (size_t k = 0; k < p.types.size(); k++) {
    std::vector<std::byte>& bytes = inputs.arguments.emplace_back();
    const DType t = p.types[k];
    if (t == DType::Void) continue;
    const auto width = static_cast<size_t>(uop::bytes_of(t));
    bytes.resize(width * static_cast<size_t>(p.room[k]));
    interpreter::fill_poison(t, bytes.data(), p.room[k]);
    const bool is_signed = uop::is_float(t) || uop::kind_of(t) == uop::Kind::Signed;
    for (size_t i = 0; i < static_cast<size_t>(p.sizes[k]); i++) {
      const uint64_t bits = uop::of_int(t, random.between(is_signed ? -4 : 0, 4)).bits;
      std::memcpy(&bytes[i * width], &bits, width);
    }
  }
  return inputs;
}

PassJudge::PassJudge(Graph& g, Ref kernel, const KernelInputs& inputs, Tolerance tolerance)
    : g_(g), kernel_(kernel), inputs_(inputs), tolerance_(tolerance) {
  const auto p = parameters_of(g, kernel, inputs.variables);
  if (p.ok()) types_ = p.value().types;
  Result<Bytes> wanted = run(g, kernel, false);
  if (!wanted.ok()) {
    verdict_.evidence = "as scheduled: " + to_string(wanted.error());
    return;
  }
  wanted_ = std::move(wanted).value();
  verdict_ = {Answer::Pass, Strength::Sampled, ""};
}

// A parameter may have come to be of another type of the same width: bits that the target has no
// type for.
Result<PassJudge::Bytes> PassJudge::run(Graph& g, Ref kernel, bool last_first) const {
  ASSAY_TRY(p, parameters_of(g, kernel, inputs_.variables));
  Bytes bytes = inputs_.arguments;
  if (p.types.size() > bytes.size())
    return Error{fmt::format("parameter {} has no argument", p.types.size() - 1)};
  std::vector<interpreter::Argument> arguments;
  for (size_t k = 0; k < bytes.size(); k++) {
    const bool used = k < p.types.size() && p.types[k] != DType::Void;
    const DType t = used ? p.types[k] : DType::U8;
    const auto size = static_cast<int64_t>(bytes[k].size()) / uop::bytes_of(t);
    arguments.push_back({bytes[k], t, size, false, static_cast<int64_t>(k)});
  }
  const auto order = last_first ? StepOrder::LastSourceFirst : StepOrder::FirstSourceFirst;
  const auto ran = interpreter::run_kernel(g, kernel, arguments, inputs_.variables, order);
  if (!ran.ok()) return ran.error();
  return bytes;
}

// Runs that have something else where there is no value differ in what may be anything.
Result<bool> PassJudge::is_unspecified(size_t argument, size_t element, size_t width) {
  if (open_.empty()) {
    ASSAY_TRY(marks, interpreter::unspecified_bytes(
                         wanted_, [&]() -> Result<Bytes> { return run(g_, kernel_, false); }));
    open_ = std::move(marks);
  }
  return interpreter::is_marked(open_[argument], element, width);
}

PassJudge::Found PassJudge::difference(const Bytes& bytes) {
  for (size_t k = 0; k < wanted_.size(); k++) {
    if (k >= types_.size() || types_[k] == DType::Void || bytes[k] == wanted_[k]) continue;
    const DType t = types_[k];
    const double apart = allowance(t, wanted_[k], tolerance_);
    const auto width = static_cast<size_t>(uop::bytes_of(t));
    for (size_t i = 0; i < bytes[k].size() / width; i++) {
      const Value a = value_at(t, wanted_[k], i);
      const Value b = value_at(t, bytes[k], i);
      if (agree(a, b, apart)) continue;
      const Result<bool> is_open = is_unspecified(k, i, width);
      if (!is_open.ok()) return {Answer::Unknown, to_string(is_open.error())};
      if (is_open.value()) continue;
      return {Answer::Fail, fmt::format("element {} of argument {} is {}, as scheduled {}", i, k,
                                        uop::to_text(b), uop::to_text(a))};
    }
  }
  return {Answer::Pass, ""};
}

// In both orders, and where it may leave open what the kernel of the schedule does not, with
// something else where there is no value.
PassJudge::Found PassJudge::trouble_after(const uop::PassSeen& seen) {
  struct Way {
    bool last_first;
    int poison;
    const char* words;
  };
  static constexpr Way kWays[] = {
      {false, 0, ""},
      {true, 0, ", where steps without an order come the other way round"},
      {false, 1, ", which depends on what stands where there is no value"}};
  if (seen.breach) return {Answer::Fail, *seen.breach};
  for (const Way& way : kWays) {
    if (way.poison != 0 && !interpreter::may_lack_value(seen.graph, seen.after)) continue;
    Result<Bytes> bytes = Error{"not run"};
    {
      const interpreter::PoisonScope poison(way.poison);
      bytes = run(seen.graph, seen.after, way.last_first);
    }
    if (!bytes.ok()) return {Answer::Fail, to_string(bytes.error())};
    Found found = difference(bytes.value());
    if (found.first == Answer::Pass) continue;
    found.second += way.words;
    return found;
  }
  return {Answer::Pass, ""};
}

void PassJudge::seen(const uop::PassSeen& seen) {
  if (verdict_.answer != Answer::Pass || seen.after->op != Op::Sink) return;
  const auto [answer, trouble] = trouble_after(seen);
  compared_++;
  verdict_.evidence = fmt::format("{} passes keep what the kernel computes", compared_);
  if (answer == Answer::Pass) return;
  pass_ = seen.pass.name;
  verdict_.answer = answer;
  verdict_.evidence = fmt::format("after {}: {}\n# before\n{}# after\n{}", pass_, trouble,
                                  uop::to_text(seen.graph, seen.before, seen.pass.accepts.name),
                                  uop::to_text(seen.graph, seen.after, seen.pass.yields.name));
}

PassesJudged judge_passes(Graph& g, Ref kernel, const KernelInputs& inputs,
                          const uop::Target& target, Tolerance tolerance,
                          std::span<const uop::Pass* const> passes) {
  PassJudge judge(g, kernel, inputs, tolerance);
  PassesJudged result = {judge.verdict(), "", 0};
  if (result.verdict.answer != Answer::Pass) return result;
  uop::Run run(g, {}, &judge, target);
  const Result<Ref> lowered = uop::run_passes(passes, run, kernel);
  result = {judge.verdict(), std::string(judge.pass()), judge.compared()};
  if (lowered.ok() || result.verdict.answer != Answer::Pass) return result;
  result.verdict = {Answer::Unknown, Strength::Sampled, to_string(lowered.error())};
  return result;
}

}  // namespace assay::oracles
