#include "engine/tensor/builder.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "engine/tensor/build.h"
#include "engine/tensor/program/contents.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"

namespace assay::tensor {
namespace {

using uop::Value;

Error at_line(Error error, int line) {
  if (error.line == 0) error.line = line;
  return error;
}

// Calls `use(value)` for every value that a statement names.
template <typename Use>
void for_each_use(const Statement& statement, Use use) {
  if (const auto* d = std::get_if<Define>(&statement.what)) {
    for (const Operand& o : d->operands) {
      if (o.value >= 0) use(o.value);
    }
  } else if (const auto* w = std::get_if<Write>(&statement.what)) {
    use(w->target);
    if (w->value.value >= 0) use(w->value.value);
  } else if (const auto* f = std::get_if<Force>(&statement.what)) {
    for (const int32_t value : f->values) use(value);
  } else if (const auto* e = std::get_if<Expect>(&statement.what)) {
    if (e->may_be_value()) use(e->value);
  }
}

// What computes with these values is where they all are.
Result<bool> meet(Graph& g, std::span<const Ref> values) {
  Ref device = nullptr;
  for (const Ref u : values) {
    const Ref at = u == nullptr ? nullptr : uop::device(g, u);
    if (at == nullptr || at == device) continue;
    if (device != nullptr) {
      return Error{fmt::format("values on {} and {} meet; a copy of one has to", device->arg.name(),
                               at->arg.name()),
                   0, 0};
    }
    device = at;
  }
  return true;
}

// Whether a value of sizes `from` broadcasts to `to` where variables are what they are bound to.
bool fits_now(const std::vector<Size>& from, const std::vector<Size>& to,
              const std::vector<int64_t>& values) {
  if (from.size() > to.size()) return false;
  for (size_t i = 1; i <= from.size(); ++i) {
    const auto n = evaluate(from[from.size() - i], values);
    if (n != 1 && n != evaluate(to[to.size() - i], values)) return false;
  }
  return true;
}

std::vector<std::byte> packed(const std::vector<uint64_t>& bits, DType t) {
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  std::vector<std::byte> bytes(bits.size() * width);
  static_assert(std::endian::native == std::endian::little);
  for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&bytes[i * width], &bits[i], width);
  return bytes;
}

}  // namespace

Builder::Builder(Session& session, const Program& program)
    : session_(session),
      program_(program),
      tensors_(program.statements.size()),
      last_uses_(program.statements.size() + 1) {
  for (const Variable& v : program.variables) {
    values_.push_back(v.value);
    variables_.push_back(bound(v, v.value));
  }
  std::vector<size_t> last(program.statements.size());
  for (size_t k = 0; k < last.size(); ++k) {
    last[k] = k;
    for_each_use(program.statements[k],
                 [&](int32_t value) { last[static_cast<size_t>(value)] = k; });
  }
  for (const Output& output : outputs(program)) {
    size_t& use = last[static_cast<size_t>(output.value)];
    use = std::max(use, static_cast<size_t>(output.statement));
  }
  for (size_t k = 0; k < last.size(); ++k) last_uses_[last[k]].push_back(static_cast<int32_t>(k));
}

Ref Builder::bound(const Variable& variable, int64_t value) {
  Graph& g = session_.graph();
  const Ref v = g.variable(variable.name, uop::of_int(uop::Index, variable.lo),
                           uop::of_int(uop::Index, variable.hi));
  return g.make(uop::Op::Bind, uop::Index, {v, g.constant(uop::Index, value)});
}

// Nodes of a graph that the session has left are made anew.
void Builder::follow() {
  if (generation_ == session_.generation()) return;
  generation_ = session_.generation();
  for (size_t k = 0; k < variables_.size(); ++k) {
    variables_[k] = bound(program_.variables[k], values_[k]);
  }
}

Result<bool> Builder::step(size_t statement) {
  follow();
  const Statement& s = program_.statements[statement];
  Result<bool> done = true;
  if (const auto* d = std::get_if<Define>(&s.what)) {
    done = d->op == Op::Input ? input(statement, *d) : define(statement, *d);
  } else if (const auto* w = std::get_if<Write>(&s.what)) {
    done = write(*w);
  } else if (const auto* b = std::get_if<Bind>(&s.what)) {
    const auto k = static_cast<size_t>(b->variable);
    values_[k] = b->value;
    variables_[k] = bound(program_.variables[k], b->value);
  }
  if (!done.ok()) return at_line(done.error(), s.line);
  return true;
}

Result<bool> Builder::input(size_t statement, const Define& define) {
  Building building{session_.graph(), program_, define, {}, variables_};
  const Shape shape = building.shape();
  int64_t count = 1;
  for (const Size& size : define.shape) {
    const std::optional<int64_t> n = evaluate(size, values_);
    if (!n || *n < 0 || __builtin_mul_overflow(count, *n, &count)) {
      return Error{fmt::format("{} has no size that can be counted", define.name), 0, 0};
    }
  }
  ASSAY_TRY(bits, input_bits(define, count));
  const Ref buffer = session_.new_buffer(define.dtype, shape, session_.device(define.device));
  tensors_[statement] = session_.storage(buffer);
  contents_.push_back({buffer, packed(bits, define.dtype)});
  return true;
}

Result<bool> Builder::define(size_t statement, const Define& define) {
  const bool is_view = row(define.op).family == Family::View;
  std::vector<Ref> operands;
  for (const Operand& o : define.operands) {
    const bool viewed = is_view && operands.empty() && o.value >= 0;
    if (o.value < 0) {
      operands.push_back(nullptr);
    } else {
      operands.push_back(viewed ? tensor(o.value).term() : tensor(o.value).read());
    }
  }
  ASSAY_TRY(met, meet(session_.graph(), operands));
  (void)met;
  ASSAY_TRY(node, build(session_.graph(), program_, define, std::move(operands), variables_));
  if (is_view && define.operands[0].value >= 0) {
    tensors_[statement] = tensor(define.operands[0].value).view(node);
    return true;
  }
  if (define.op == Op::Copy) {
    node =
        session_.graph().make(uop::Op::Copy, node->dtype, {node, session_.device(define.device)});
  }
  tensors_[statement] = session_.tensor(node, session_.device(define.device));
  return true;
}

Result<bool> Builder::write(const Write& write) {
  const Tensor& target = tensor(write.target);
  const Define& defined = program_.define(write.target);
  Graph& g = session_.graph();
  Ref value = nullptr;
  if (write.value.is_literal()) {
    const std::optional<uint64_t> bits = bits_at(write.value.literal, defined.dtype);
    if (!bits) {
      return Error{fmt::format("{} cannot hold the number written to {}",
                               uop::to_text(defined.dtype), defined.name),
                   0, 0};
    }
    value = g.constant(Value{defined.dtype, *bits});
  } else {
    value = tensor(write.value.value).read();
  }
  if (value->dtype != defined.dtype) {
    return Error{fmt::format("{} is {}, what is written to it is {}", defined.name,
                             uop::to_text(defined.dtype), uop::to_text(value->dtype)),
                 0, 0};
  }
  const Shape to = uop::shape(g, target.read());
  const Result<Shape> joined = uop::broadcast(g, uop::shape(g, value), to);
  const bool fits = write.value.is_literal() ||
                    fits_now(program_.define(write.value.value).shape, defined.shape, values_);
  if (!joined.ok() || !fits ||
      !std::equal(joined.value().begin(), joined.value().end(), to.begin(), to.end())) {
    return Error{
        fmt::format("a value of shape {} does not broadcast to {}, which is {}",
                    uop::shape_text(uop::shape(g, value)), defined.name, uop::shape_text(to)),
        0, 0};
  }
  const Ref meeting[] = {target.read(), value};
  ASSAY_TRY(met, meet(g, meeting));
  (void)met;
  session_.write(target, value);
  return true;
}

void Builder::finish(size_t statement) {
  for (const int32_t value : last_uses_[statement]) {
    tensors_[static_cast<size_t>(value)] = Tensor();
  }
  session_.compact();
}

Result<bool> Builder::run(const Force& force) {
  const std::vector<Output> read = outputs(program_);
  const size_t end = program_.statements.size();
  size_t next = 0;
  for (size_t k = 0; k <= end; ++k) {
    const Result<bool> done = k < end ? step(k) : Result<bool>(true);
    if (!done.ok()) return done.error();
    std::vector<const Tensor*> tensors;
    for (; next < read.size() && static_cast<size_t>(read[next].statement) == k; ++next) {
      tensors.push_back(&tensor(read[next].value));
    }
    const Result<bool> forced = tensors.empty() ? Result<bool>(true) : force(tensors);
    if (!forced.ok()) return forced.error();
    if (k < end) finish(k);
  }
  return true;
}

}  // namespace assay::tensor
