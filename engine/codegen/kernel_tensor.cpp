#include "engine/codegen/kernel_tensor.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace assay::codegen {

using uop::Cell;
using uop::Op;
using uop::Ref;
using uop::Value;

int64_t count(Extents sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

std::vector<int64_t> joined(Extents a, Extents b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<int64_t> sizes(a.begin(), a.end());
  for (size_t i = 1; i <= b.size(); ++i) {
    const int64_t other = b[b.size() - i];
    int64_t& size = sizes[sizes.size() - i];
    if (size == 1) size = other;
    EXPECT_TRUE(other == size || other == 1) << "shapes do not broadcast";
  }
  return sizes;
}

std::vector<int64_t> joined(std::span<const Tensor> all) {
  std::vector<int64_t> sizes;
  for (const Tensor& t : all) sizes = joined(sizes, t.sizes);
  return sizes;
}

size_t broadcast_from(Extents from, Extents to, int64_t i) {
  int64_t at = 0;
  int64_t stride = 1;
  for (size_t k = 1; k <= to.size() && k <= from.size(); ++k) {
    const int64_t size = to[to.size() - k];
    const int64_t own = from[from.size() - k];
    if (own != 1) at += i % size * stride;
    stride *= own;
    i /= size;
  }
  return static_cast<size_t>(at);
}

namespace {

Cell applied_to(Ref u, std::span<const Cell> operands) {
  if (u->op == Op::Where && operands[0].defined()) {
    return operands[operands[0].value.bits != 0 ? 1 : 2];
  }
  std::vector<Value> values;
  bool is_specified = true;
  for (const Cell& c : operands) {
    if (c.state == Cell::State::Invalid) return c;
    is_specified = is_specified && c.defined();
    values.push_back(c.value);
  }
  if (!is_specified) return {};
  const std::optional<Value> v = uop::eval(u->op, u->dtype, values);
  return v ? Cell::of(*v) : Cell{};
}

size_t permuted_from(Ref u, Extents from, Extents to, int64_t i) {
  std::vector<int64_t> at(from.size());
  for (size_t k = to.size(); k-- > 0; i /= to[k]) {
    at[static_cast<size_t>(u->arg.numbers()[k])] = i % to[k];
  }
  int64_t flat = 0;
  for (size_t k = 0; k < from.size(); ++k) flat = flat * from[k] + at[k];
  return static_cast<size_t>(flat);
}

// Element `index` of an axis of this size, below element `base` of the axes before it.
int64_t element(int64_t base, const Cell& index, int64_t size) {
  if (base < 0 || index.state == Cell::State::Invalid) return -1;
  const auto i = index.defined() ? static_cast<int64_t>(as_int(index.value)) : int64_t{-1};
  if (0 <= i && i < size) return base * size + i;
  ADD_FAILURE() << "index " << i << " of an axis of " << size;
  return -1;
}

}  // namespace

Tensor applied(Ref u, std::span<const Tensor> sources) {
  Tensor t = {joined(sources), {}};
  Cells operands;
  for (int64_t i = 0; i < count(t.sizes); ++i) {
    operands.clear();
    for (const Tensor& s : sources) {
      operands.push_back(s.cells[broadcast_from(s.sizes, t.sizes, i)]);
    }
    t.cells.push_back(applied_to(u, operands));
  }
  return t;
}

Tensor moved(Ref u, const Tensor& x, std::vector<int64_t> sizes) {
  Tensor t = {std::move(sizes), {}};
  for (int64_t i = 0; i < count(t.sizes); ++i) {
    t.cells.push_back(x.cells[u->op == Op::Permute ? permuted_from(u, x.sizes, t.sizes, i)
                                                   : broadcast_from(x.sizes, t.sizes, i)]);
  }
  return t;
}

void fold(Ref reduce, const Tensor& x, Cells& to) {
  const Op op = reduce->arg.fold_op();
  for (size_t i = 0; i < x.cells.size(); ++i) {
    Cell& into = to[i % to.size()];
    if (x.cells[i].state == Cell::State::Invalid || !into.defined()) continue;
    const Value pair[] = {into.value, x.cells[i].value};
    into = x.cells[i].defined() ? Cell::of(uop::eval(op, reduce->dtype, pair).value()) : Cell{};
  }
}

Elements elements(Extents whole, std::span<const Tensor> indices) {
  EXPECT_LE(indices.size(), whole.size());
  const Extents inner = whole.subspan(indices.size());
  Elements all = {joined(indices), {}};
  const std::vector<int64_t> outer = all.sizes;
  all.sizes.insert(all.sizes.end(), inner.begin(), inner.end());
  for (int64_t i = 0; i < count(outer); ++i) {
    int64_t base = 0;
    for (size_t a = 0; a < indices.size(); ++a) {
      base = element(base, indices[a].cells[broadcast_from(indices[a].sizes, outer, i)], whole[a]);
    }
    for (int64_t k = 0; k < count(inner); ++k) {
      all.offsets.push_back(base < 0 ? -1 : base * count(inner) + k);
    }
  }
  return all;
}

Tensor taken(const Cells& cells, const Elements& at) {
  Tensor t = {at.sizes, {}};
  for (const int64_t offset : at.offsets) {
    t.cells.push_back(offset < 0 ? kInvalidCell : cells[static_cast<size_t>(offset)]);
  }
  return t;
}

}  // namespace assay::codegen
