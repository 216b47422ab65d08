#include "fuzz/mutate/follow.h"

#include <algorithm>
#include <utility>

#include "engine/tensor/build.h"
#include "engine/uop/shape.h"
#include "fuzz/mutate/statement.h"

namespace assay::fuzz {
namespace {

using tensor::Define;
using tensor::Operand;
using tensor::Program;
using tensor::Size;
using uop::Graph;
using uop::Ref;

constexpr int64_t kMostValues = 12;  // of a variable that are tried

// Nodes that stand for operands of these shapes.
std::vector<Ref> parameters(Graph& g, const Program& program, const Define& define,
                            const std::vector<std::vector<int64_t>>& shapes) {
  std::vector<Ref> result;
  for (size_t i = 0; i < define.operands.size(); i++) {
    const Operand& o = define.operands[i];
    if (o.value < 0) {
      result.push_back(nullptr);
      continue;
    }
    std::vector<Ref> sizes;
    for (const int64_t n : shapes[i]) sizes.push_back(uop::dim(g, n));
    result.push_back(g.make(uop::Op::Param, program.define(o.value).dtype, sizes,
                            uop::Arg::number(static_cast<int64_t>(i))));
  }
  return result;
}

std::vector<Ref> constants(Graph& g, const std::vector<int64_t>& values) {
  std::vector<Ref> result;
  for (const int64_t n : values) result.push_back(g.constant(uop::Index, n));
  return result;
}

bool may_vary(const Program& program, const Define& define) {
  return is_symbolic(define) || std::ranges::any_of(define.operands, [&](const Operand& o) {
           return o.value >= 0 && is_symbolic(program.define(o.value));
         });
}

bool builds_at(const Program& program, const Define& define, const std::vector<int64_t>& values) {
  std::vector<std::vector<int64_t>> shapes(define.operands.size());
  for (size_t i = 0; i < shapes.size(); i++) {
    if (define.operands[i].value < 0) continue;
    for (const Size& s : program.define(define.operands[i].value).shape) {
      const auto n = evaluate(s, values);
      if (!n || *n < 0) return false;
      shapes[i].push_back(*n);
    }
  }
  Graph scratch;
  std::vector<Ref> operands = parameters(scratch, program, define, shapes);
  const std::vector<Ref> variables = constants(scratch, values);
  return tensor::build(scratch, program, define, std::move(operands), variables).ok();
}

}  // namespace

bool write_what_follows(const Program& program, Define& define,
                        const std::vector<std::vector<int64_t>>& shapes,
                        const std::vector<int64_t>& bound) {
  if (!is_complete(define)) return false;
  Graph scratch;
  std::vector<Ref> operands = parameters(scratch, program, define, shapes);
  const std::vector<Ref> variables = constants(scratch, bound);
  const Result<Ref> node =
      tensor::build_as_follows(scratch, program, define, std::move(operands), variables);
  if (!node.ok()) return false;
  std::vector<Size> shape;
  for (const Ref n : uop::shape(scratch, node.value())) {
    if (!uop::is_const(n)) return false;
    shape.push_back(Size{static_cast<int64_t>(n->arg.bits), {}});
  }
  define.dtype = node.value()->dtype;
  define.shape = std::move(shape);
  return true;
}

bool is_general(const Program& program, const Define& define, const std::vector<int64_t>& bound) {
  if (program.variables.empty() || define.op == tensor::Op::Input) return true;
  if (!may_vary(program, define)) return true;
  for (size_t v = 0; v < program.variables.size(); v++) {
    const tensor::Variable& variable = program.variables[v];
    const int64_t last = std::min(variable.hi, variable.lo + kMostValues);
    for (int64_t value = variable.lo; value <= last; value++) {
      std::vector<int64_t> values = bound;
      values[v] = value == last ? variable.hi : value;
      if (!builds_at(program, define, values)) return false;
    }
  }
  return true;
}

}  // namespace assay::fuzz
