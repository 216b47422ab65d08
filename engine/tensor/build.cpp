#include "engine/tensor/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/check.h"
#include "engine/tensor/families.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/dim.h"

namespace assay::tensor {
namespace {

Ref step_of(Graph& g, SizeStep::Kind kind, Ref a, Ref b) {
  switch (kind) {
    case SizeStep::Kind::Add: return uop::dim_add(g, a, b);
    case SizeStep::Kind::Sub: return uop::dim_sub(g, a, b);
    case SizeStep::Kind::Mul: return uop::dim_mul(g, a, b);
    case SizeStep::Kind::Div: return uop::dim_div(g, a, b);
    default: break;
  }
  if (uop::is_const(a) && uop::is_const(b)) {
    const Ref quotient = uop::dim_div(g, a, b);
    return uop::dim_sub(g, a, uop::dim_mul(g, quotient, b));
  }
  return g.alu(uop::Op::Mod, {a, b});
}

// Axis from 0 of a value of this rank.
Result<int64_t> counted(const Building& b, int64_t axis, size_t rank) {
  const auto axes = std::max<int64_t>(1, static_cast<int64_t>(rank));
  if (-axes <= axis && axis < axes) return axis < 0 ? axis + axes : axis;
  return Error{fmt::format("{} names axis {} of a value of rank {}", b.row().text, axis, rank)};
}

std::vector<BuildRow> joined_rows() {
  std::vector<BuildRow> rows;
  const std::span<const BuildRow> parts[] = {
      source_builds(), elementwise_builds(), activation_builds(), movement_builds(),
      reduce_builds(), scan_builds(),        contract_builds(),   einsum_builds(),
      conv_builds(),   window_builds(),      norm_builds(),       indexing_builds(),
      order_builds()};
  for (const auto part : parts) rows.insert(rows.end(), part.begin(), part.end());
  std::ranges::sort(rows, {}, &BuildRow::op);
  ASSAY_CHECK(rows.size() == static_cast<size_t>(kOpCount), "{} of {} ops have builders",
              rows.size(), kOpCount);
  for (size_t i = 0; i < rows.size(); i++) {
    ASSAY_CHECK(rows[i].op == static_cast<Op>(i), "no builder of {}", row(static_cast<Op>(i)).text);
  }
  return rows;
}

}  // namespace

Shape Building::shape_of(size_t operand) const { return uop::shape(g, operands[operand]); }

Shape Building::shape() const {
  std::vector<Ref> sizes;
  sizes.reserve(define.shape.size());
  for (const Size& size : define.shape) sizes.push_back(dim(size));
  return uop::intern_shape(g, sizes);
}

Ref Building::dim(const Size& size) const {
  if (size.is_number()) return uop::dim(g, size.number);
  std::vector<Ref> stack;
  for (const SizeStep& step : size.steps) {
    if (step.kind == SizeStep::Kind::Number) {
      stack.push_back(uop::dim(g, step.number));
    } else if (step.kind == SizeStep::Kind::Variable) {
      stack.push_back(uop::as_dim(g, variables[static_cast<size_t>(step.number)]));
    } else {
      ASSAY_CHECK(stack.size() >= 2, "a size lacks operands");
      const Ref right = stack.back();
      stack.pop_back();
      stack.back() = step_of(g, step.kind, stack.back(), right);
    }
  }
  ASSAY_CHECK(stack.size() == 1, "a size of {} values", stack.size());
  return stack[0];
}

const AttrValue& Building::attr(std::string_view name) const {
  return define.attrs[row().attr(name)];
}

bool Building::has(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(attr(name));
}

bool Building::flag(std::string_view name) const { return std::get<bool>(attr(name)); }
int64_t Building::integer(std::string_view name) const { return std::get<int64_t>(attr(name)); }

double Building::number(std::string_view name) const {
  const auto& literal = std::get<Literal>(attr(name));
  return literal.kind == Literal::Kind::Float ? literal.real : static_cast<double>(literal.integer);
}

Result<Ref> Building::constant(std::string_view name, DType t) const {
  const auto& literal = std::get<Literal>(attr(name));
  const std::optional<uint64_t> bits = bits_at(literal, t);
  if (bits) return g.constant(uop::Value{t, *bits});
  return Error{fmt::format("{} is {}, which is no {}", name, to_text(literal), uop::to_text(t))};
}

std::string_view Building::word(std::string_view name) const {
  return std::get<std::string>(attr(name));
}

DType Building::type(std::string_view name) const { return std::get<DType>(attr(name)); }

const std::vector<Slice>& Building::slices(std::string_view name) const {
  return std::get<std::vector<Slice>>(attr(name));
}

Ref Building::size(std::string_view name) const { return dim(std::get<Size>(attr(name))); }

std::vector<Ref> Building::dims(std::string_view name) const {
  std::vector<Ref> sizes;
  for (const Size& size : std::get<std::vector<Size>>(attr(name))) sizes.push_back(dim(size));
  return sizes;
}

Result<int64_t> Building::axis(std::string_view name, size_t rank) const {
  return counted(*this, integer(name), rank);
}

Result<std::vector<int64_t>> Building::listed_axes(std::string_view name, size_t rank) const {
  std::vector<int64_t> axes;
  for (const int64_t axis : std::get<std::vector<int64_t>>(attr(name))) {
    ASSAY_TRY(from_zero, counted(*this, axis, rank));
    if (std::ranges::find(axes, from_zero) != axes.end()) {
      return Error{fmt::format("{} names axis {} twice", row().text, axis)};
    }
    axes.push_back(from_zero);
  }
  return axes;
}

Result<std::vector<int64_t>> Building::axes(std::string_view name, size_t rank) const {
  std::vector<int64_t> all(rank);
  std::iota(all.begin(), all.end(), int64_t{0});
  if (!has(name)) return all;
  ASSAY_TRY(axes, listed_axes(name, rank));
  if (rank == 0) return all;
  std::ranges::sort(axes);
  return axes;
}

std::span<const BuildRow> all_builds() {
  static const std::vector<BuildRow> rows = joined_rows();
  return rows;
}

}  // namespace assay::tensor
