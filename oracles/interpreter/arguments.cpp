#include "oracles/interpreter/arguments.h"

#include "engine/uop/shape.h"
#include "oracles/interpreter/sizes.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

Result<Argument> whole(uop::Graph& g, Ref buffer, Memory& memory) {
  const std::span<std::byte> bytes = memory.of(g, buffer);
  bool exact = true;
  for (const Ref size : buffer->src)
    exact = exact && (uop::is_const(size) || size->op == Op::Device);
  const auto size = static_cast<int64_t>(bytes.size()) / uop::bytes_of(buffer->dtype);
  return Argument{bytes, buffer->dtype, size, exact, buffer->arg.number()};
}

Result<Argument> part(uop::Graph& g, Argument of, Ref shrink, const Variables& variables) {
  if (shrink->src.size() != 3) return Error{"a view of more than one axis"};
  ASSAY_TRY(begin, size_value(g, shrink->src[1], variables));
  ASSAY_TRY(count, size_value(g, shrink->src[2], variables));
  if (begin < 0 || count < 0 || begin > of.size - count) {
    return Error{fmt::format("a view of {} from {} of buffer {}, which holds {}", count, begin,
                             of.buffer, of.size)};
  }
  const int64_t width = uop::bytes_of(of.dtype);
  of.bytes =
      of.bytes.subspan(static_cast<size_t>(begin * width), static_cast<size_t>(count * width));
  of.size = count;
  return of;
}

Result<Argument> read_as(Argument of, DType t) {
  const auto bytes = static_cast<int64_t>(of.bytes.size());
  const int64_t width = uop::bytes_of(t);
  if (bytes % width != 0)
    return Error{fmt::format("{} bytes of buffer {} as {}", bytes, of.buffer, uop::to_text(t))};
  of.dtype = t;
  of.size = bytes / width;
  return of;
}

}  // namespace

Result<Argument> argument_of(uop::Graph& g, Ref u, std::span<const Ref> outer,
                             const Variables& variables, Memory& memory) {
  std::vector<Ref> views;
  while (u->op == Op::Bitcast || u->op == Op::Shrink || u->op == Op::Reshape ||
         u->op == Op::Param) {
    if (u->op != Op::Param) {
      views.push_back(u);
      u = u->src[0];
      continue;
    }
    const auto slot = static_cast<size_t>(u->arg.number());
    if (slot >= outer.size()) return Error{fmt::format("parameter {} of no call", u->arg.number())};
    u = outer[slot];
    outer = {};
  }
  if (u->op != Op::Buffer)
    return Error{fmt::format("{} as the argument of a call", uop::to_text(u->op))};
  ASSAY_TRY(argument, whole(g, u, memory));
  for (size_t i = views.size(); i-- > 0;) {
    if (views[i]->op == Op::Reshape) continue;
    ASSAY_TRY(next, views[i]->op == Op::Shrink ? part(g, argument, views[i], variables)
                                               : read_as(argument, views[i]->dtype));
    argument = next;
  }
  return argument;
}

}  // namespace assay::interpreter
