#include "engine/tensor/build_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/tensor/program/text.h"
#include "engine/uop/shape.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

namespace assay::tensor {
namespace {

std::vector<Ref> bound_variables(Graph& g, const Program& program) {
  std::vector<Ref> bound;
  for (const Variable& v : program.variables) {
    const Ref variable =
        g.variable(v.name, uop::of_int(uop::Index, v.lo), uop::of_int(uop::Index, v.hi));
    bound.push_back(g.make(uop::Op::Bind, uop::Index, {variable, g.constant(uop::Index, v.value)}));
  }
  return bound;
}

// What is below root and not below what it was built from.
void expect_view(Ref root, Ref from) {
  for (Ref u = root; u != from; u = u->src[0]) {
    const bool is_view =
        u->op == uop::Op::Bitcast || (uop::is_movement(u->op) && u->op != uop::Op::Expand);
    ASSERT_TRUE(is_view) << uop::to_text(u->op) << " in a view";
  }
}

}  // namespace

Result<BuiltProgram> build_all(Graph& g, std::string_view text) {
  std::string whole = fmt::format("tp 1\n{}\n", text);
  constexpr std::string_view kInput = "input(";
  for (size_t at = 0; (at = whole.find("input()", at)) != std::string::npos;) {
    whole.insert(at + kInput.size(), "random=nasty");
  }
  ASSAY_TRY(program, from_text(whole));
  BuiltProgram b = {std::move(program), {}};
  const std::vector<Ref> variables = bound_variables(g, b.program);
  for (const Statement& s : b.program.statements) {
    b.nodes.push_back(nullptr);
    const auto* define = std::get_if<Define>(&s.what);
    if (define == nullptr) continue;
    std::vector<Ref> operands;
    operands.reserve(define->operands.size());
    for (const Operand& o : define->operands) {
      operands.push_back(o.value < 0 ? nullptr : b.nodes[static_cast<size_t>(o.value)]);
    }
    if (define->op == Op::Input) {
      const Building building{g, b.program, *define, operands, variables};
      const Shape shape = building.shape();
      const auto slot = uop::Arg::number(static_cast<int64_t>(b.nodes.size()) - 1);
      b.nodes.back() = g.make(uop::Op::Param, define->dtype, shape, slot);
      continue;
    }
    ASSAY_TRY(node, build(g, b.program, *define, operands, variables));
    if (row(define->op).family == Family::View) expect_view(node, operands[0]);
    b.nodes.back() = node;
  }
  return b;
}

Ref built(Graph& g, std::string_view text) {
  const Result<BuiltProgram> all = build_all(g, text);
  if (!all.ok()) {
    ADD_FAILURE() << text << "\n" << to_string(all.error());
    return nullptr;
  }
  const Ref root = all.value().nodes.back();
  EXPECT_EQ(uop::verify(g, root).value_or(""), "") << text;
  for (const Ref u : uop::toposort(g, root)) {
    EXPECT_EQ(uop::shape_error(g, u).value_or(""), "") << text;
  }
  return root;
}

std::string build_error(std::string_view text) {
  Graph g;
  const Result<BuiltProgram> all = build_all(g, text);
  return all.ok() ? "" : all.error().message;
}

}  // namespace assay::tensor
