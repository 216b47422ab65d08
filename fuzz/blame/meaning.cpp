#include "fuzz/blame/meaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/schedule/kernel_graph.h"
#include "engine/uop/pass.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/numbers.h"
#include "oracles/interpreter/poison.h"

namespace assay::fuzz {
namespace {

using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Value;

Value element(DType t, std::span<const std::byte> bytes, size_t i) {
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  Value v = {t, 0};
  std::memcpy(&v.bits, &bytes[i * width], width);
  v.bits = interpreter::wrapped(v.bits, t);
  return v;
}

bool is_poison(Value v) {
  return !uop::is_float(v.dtype) && v.dtype != DType::Bool &&
         v.bits == interpreter::poison(v.dtype);
}

bool is_open(const Stored& s, size_t element) {
  const auto width = static_cast<size_t>(uop::bytes_of(s.dtype));
  return !s.open.empty() && interpreter::is_marked(s.open, element, width);
}

// How far apart elements of this storage may lie.
double room(const Stored& s, double ulps) {
  if (!uop::is_float(s.dtype) || ulps == 0) return 0;
  const Value one = uop::one_of(s.dtype);
  const double epsilon = uop::as_double({s.dtype, one.bits + 1}) - 1;
  double largest = 0;
  const size_t count = s.bytes.size() / static_cast<size_t>(uop::bytes_of(s.dtype));
  for (size_t i = 0; i < count; i++) {
    const double x = std::abs(uop::as_double(element(s.dtype, s.bytes, i)));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return ulps * epsilon * largest;
}

bool agree(Value a, Value b, double apart) {
  if (a == b || is_poison(a)) return true;
  if (!uop::is_float(a.dtype)) return false;
  const double x = uop::as_double(a);
  const double y = uop::as_double(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == 0 && y == 0) return apart != 0;
  return x == y || std::abs(x - y) <= apart;
}

// The numbers of a body's own storage are of its own: they are moved away from those of the
// session, which its arguments have.
Ref with_own_storage(uop::Graph& g, Ref linear) {
  constexpr int32_t kApart = 1 << 24;
  uop::Substitution map;
  bool is_body = false;
  for (const Ref call : linear->src) {
    for (const Ref storage : call->src.subspan(1)) {
      is_body = is_body || storage->op == Op::Param;
      if (storage->op != Op::Buffer) continue;
      const auto number = static_cast<int32_t>(storage->arg.number()) + kApart;
      map[storage] = g.make(Op::Buffer, storage->dtype, storage->src,
                            uop::Arg::place(number, storage->arg.addr_space()));
    }
  }
  return is_body ? uop::substitute(g, linear, map, uop::Extent::OutsideBodies) : linear;
}

// Whether the graph is between run_rangeify and split_store: its stores are no kernel's.
bool has_open_stores(uop::Graph& g, Ref sink) {
  return std::ranges::any_of(uop::toposort(g, sink, uop::Extent::OutsideBodies),
                             [](Ref u) { return u->op == Op::End; });
}

// The graph with its stores made kernels, which is what can be run. Nobody edits it on the way, and
// what is ill-formed is told of by what runs it.
Result<Ref> runnable(uop::Graph& g, Ref sink) {
  if (!has_open_stores(g, sink)) return sink;
  uop::Watch quiet;
  uop::Run run(g, {}, &quiet, uop::generic_target());
  return uop::run_pass(schedule::split_store_pass(), run, sink);
}

}  // namespace

Called called(uop::Graph& g, Ref call, const interpreter::Memory& memory) {
  Called c = {g, {}, {}, memory};
  for (const Ref argument : call->src.subspan(1)) {
    if (argument->op != Op::Bind) {
      c.arguments.push_back(argument);
      continue;
    }
    c.variables[std::string(argument->src[0]->arg.name())] =
        static_cast<int64_t>(argument->src[1]->arg.bits);
  }
  return c;
}

Result<Contents> meaning_of_sink(const Called& call, Ref sink) {
  interpreter::Memory memory = call.memory;
  ASSAY_TRY(whole, runnable(call.g, sink));
  std::vector<Ref> states(whole->src.begin(), whole->src.end());
  ASSAY_TRY(values, interpreter::evaluate(call.g, states, call.variables, memory, call.arguments));
  Contents contents;
  for (size_t k = 0; k < states.size(); k++) {
    const Ref storage = uop::buffer(call.g, states[k]);
    if (storage == nullptr || storage->op != Op::Param) continue;
    contents[static_cast<size_t>(storage->arg.number())] = {values[k].dtype, values[k].bytes};
  }
  return contents;
}

Result<Contents> meaning_of_linear(const Called& call, Ref linear, std::span<const int> order) {
  interpreter::Memory memory = call.memory;
  std::vector<Ref> sources = {with_own_storage(call.g, linear)};
  sources.insert(sources.end(), call.arguments.begin(), call.arguments.end());
  const Ref whole = call.g.make(Op::Call, DType::Void, sources, call.g.info("", {}));
  ASSAY_TRY(done, interpreter::run(call.g, whole, call.variables, memory, order));
  Contents contents;
  for (size_t k = 0; done && k < call.arguments.size(); k++) {
    const Ref buffer = call.arguments[k];
    if (buffer->op != Op::Buffer) continue;
    const std::span<std::byte> bytes = memory.of(call.g, buffer);
    contents[k] = {buffer->dtype, {bytes.begin(), bytes.end()}};
  }
  return contents;
}

void mark_open(Contents& wanted, const std::function<Result<Contents>()>& again) {
  const auto listed = [](const Contents& contents) {
    interpreter::Storages all;
    for (const auto& [slot, stored] : contents) all.push_back(stored.bytes);
    return all;
  };
  const auto run = [&]() -> Result<interpreter::Storages> {
    ASSAY_TRY(contents, again());
    return listed(contents);
  };
  Result<interpreter::ByteMarks> marks = interpreter::unspecified_bytes(listed(wanted), run);
  if (!marks.ok()) return;
  size_t place = 0;
  for (auto& [slot, stored] : wanted) stored.open = std::move(marks.value()[place++]);
}

std::string difference(const Contents& wanted, const Contents& got, double ulps) {
  for (const auto& [slot, a] : wanted) {
    const auto at = got.find(slot);
    if (at == got.end() || at->second.bytes == a.bytes) continue;
    const Stored& b = at->second;
    const size_t size = std::min(a.bytes.size(), b.bytes.size());
    const double apart = room(a, ulps);
    for (size_t i = 0; i < size / static_cast<size_t>(uop::bytes_of(a.dtype)); i++) {
      const Value x = element(a.dtype, a.bytes, i);
      const Value y = element(a.dtype, b.bytes, i);
      if (agree(x, y, apart) || is_open(a, i)) continue;
      return fmt::format("element {} of argument {} is {}, before {}", i, slot, uop::to_text(y),
                         uop::to_text(x));
    }
  }
  return "";
}

}  // namespace assay::fuzz
