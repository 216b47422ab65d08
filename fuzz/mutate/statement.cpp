#include "fuzz/mutate/statement.h"

#include "engine/tensor/program/contents.h"

namespace assay::fuzz {

using tensor::AttrKind;
using tensor::Define;
using tensor::Literal;
using tensor::Op;
using tensor::Size;
using uop::DType;

bool holds(const Literal& literal, DType t) {
  return uop::is_float(t) ? literal.kind != Literal::Kind::Any : bits_at(literal, t).has_value();
}

bool is_complete(const Define& d) {
  const tensor::OpRow& row = tensor::row(d.op);
  for (size_t i = 0; i < d.attrs.size(); i++) {
    const bool is_absent = std::holds_alternative<std::monostate>(d.attrs[i]);
    if (is_absent && !row.attrs[i].optional) return false;
  }
  return true;
}

bool is_readable(const Define& d, const std::vector<int64_t>& bound) {
  if (!is_complete(d)) return false;
  const tensor::OpRow& row = tensor::row(d.op);
  for (size_t i = 0; i < d.attrs.size(); i++) {
    if (const auto* number = std::get_if<Literal>(&d.attrs[i])) {
      const bool is_default =
          !row.attrs[i].fallback.empty() &&
          tensor::same(*number, std::get<Literal>(tensor::default_attrs(d.op)[i]));
      if (!is_default && !holds(*number, d.dtype)) return false;
    }
    const auto* data = std::get_if<std::vector<Literal>>(&d.attrs[i]);
    if (data == nullptr) continue;
    if (!std::ranges::all_of(*data, [&](const Literal& l) { return holds(l, d.dtype); })) {
      return false;
    }
    const auto count = element_count(d.shape, bound);
    if (data->size() != 1 && (!count || *count != static_cast<int64_t>(data->size()))) return false;
  }
  return d.op != Op::Input || !tensor::contents_error(d);
}

bool is_small(const Define& d, int64_t most_elements, const std::vector<int64_t>& largest) {
  constexpr int64_t kMostSize = 1 << 20;
  const auto count = element_count(d.shape, largest);
  if (!count || *count > most_elements) return false;
  return std::ranges::all_of(d.shape, [&](const Size& s) {
    const auto n = evaluate(s, largest);
    return n && *n <= kMostSize;
  });
}

tensor::AttrValue plain_attr(const Define& d, size_t attr, size_t rank) {
  const tensor::AttrRow& row = tensor::row(d.op).attrs[attr];
  if (row.optional || !row.fallback.empty()) return tensor::default_attrs(d.op)[attr];
  switch (row.kind) {
    case AttrKind::Axis: return int64_t{0};
    case AttrKind::Int: return int64_t{1};
    case AttrKind::Axes: return rank == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{0};
    case AttrKind::Size: return Size{1, {}};
    case AttrKind::Slices: return std::vector<tensor::Slice>{};
    case AttrKind::Number:
      return Literal{d.dtype == DType::Bool ? Literal::Kind::Bool : Literal::Kind::Int, 1, 0};
    case AttrKind::Sizes: {
      const int64_t n = d.op == Op::Pad || d.op == Op::Roll ? 0 : 1;
      return std::vector<Size>(d.op == Op::Roll ? std::min<size_t>(rank, 1) : rank, Size{n, {}});
    }
    default: return d.attrs[attr];
  }
}

std::vector<int64_t> largest_values(const tensor::Program& program) {
  std::vector<int64_t> result;
  for (const tensor::Variable& v : program.variables) result.push_back(v.hi);
  return result;
}

}  // namespace assay::fuzz
