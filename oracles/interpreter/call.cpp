#include "oracles/interpreter/call.h"

#include <cstring>

#include "oracles/interpreter/sizes.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

// The STORE of a copy's body; nullptr where the body is a kernel's.
Ref copy_of(Ref body) {
  if (body->op != Op::Sink || body->src.size() != 1) return nullptr;
  const Ref store = body->src[0];
  return store->op == Op::Store && store->src[1]->op == Op::Copy ? store : nullptr;
}

// The bytes that a side of a copy names: a PARAM or part of one.
Result<std::span<std::byte>> side(uop::Graph& g, Ref u, std::span<const Argument> arguments,
                                  const Variables& variables) {
  const Ref param = u->op == Op::Shrink ? u->src[0] : u;
  if (param->op != Op::Param) return Error{fmt::format("{} in a copy", uop::to_text(u->op))};
  const auto slot = static_cast<size_t>(param->arg.number());
  if (slot >= arguments.size()) return Error{fmt::format("argument {} is not given", slot)};
  const Argument& a = arguments[slot];
  if (!may_bind(param->dtype, a.dtype)) {
    return Error{fmt::format("argument {} (buffer {}) is {}, the parameter {}", slot, a.buffer,
                             uop::to_text(a.dtype), uop::to_text(param->dtype))};
  }
  int64_t begin = 0;
  int64_t size = 1;
  if (u == param) {
    for (const Ref s : param->src) {
      if (s->op == Op::Device) continue;
      ASSAY_TRY(axis, size_value(g, s, variables));
      size *= axis;
    }
  } else {
    if (u->src.size() != 3) return Error{"a copy of more than one axis"};
    ASSAY_TRY(from, size_value(g, u->src[1], variables));
    ASSAY_TRY(count, size_value(g, u->src[2], variables));
    begin = from;
    size = count;
  }
  if (begin < 0 || size < 0 || begin > a.size - size) {
    return Error{
        fmt::format("copies {} elements from {} of argument {} (buffer {}), which holds {}", size,
                    begin, slot, a.buffer, a.size)};
  }
  const auto width = static_cast<size_t>(uop::bytes_of(a.dtype));
  return a.bytes.subspan(static_cast<size_t>(begin) * width, static_cast<size_t>(size) * width);
}

Result<bool> run_copy(uop::Graph& g, Ref store, std::span<const Argument> arguments,
                      const Variables& variables) {
  ASSAY_TRY(to, side(g, store->src[0], arguments, variables));
  ASSAY_TRY(from, side(g, store->src[1]->src[0], arguments, variables));
  if (to.size() != from.size())
    return Error{fmt::format("copies {} bytes to {}", from.size(), to.size())};
  if (!to.empty()) std::memmove(to.data(), from.data(), to.size());
  return true;
}

}  // namespace

Result<bool> run_body(uop::Graph& g, Ref body, std::span<const Argument> arguments,
                      const Variables& variables, Kernels& kernels) {
  const Ref copy = copy_of(body);
  const auto ran =
      copy != nullptr ? run_copy(g, copy, arguments, variables) : kernels.run(body, arguments);
  if (ran.ok()) return true;
  const bool named = body->arg.kind == uop::ArgKind::Info;
  return Error{
      fmt::format("kernel {}: {}", quoted(named ? body->arg.name() : ""), ran.error().message)};
}

}  // namespace assay::interpreter
