#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/reference/evaluating.h"
#include "oracles/reference/scalar.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

// Where an index picks of n; nothing out of range. Negative ones are not counted from the end.
std::optional<int64_t> picked(const Bounded& index, int64_t n) {
  const auto at = static_cast<uint64_t>(index.integer);  // below zero: past every n
  if (at >= static_cast<uint64_t>(n)) return std::nullopt;
  return static_cast<int64_t>(at);
}

// An element of x at an index along an axis whose elements lie `stride` apart.
Bounded element(const Array& x, int64_t first, int64_t stride, int64_t n, const Bounded& index,
                const Bounded& zero) {
  if (!index.is_exact()) return index;
  const std::optional<int64_t> at = picked(index, n);
  return at ? x.elements[first + *at * stride] : zero;
}

// Whether i can stand beside x in gather and scatter.
Result<bool> is_beside(const Array& x, const Array& i, size_t axis) {
  bool fits = i.shape.size() == x.shape.size();
  for (size_t d = 0; fits && d < x.shape.size(); ++d) {
    fits = d == axis || i.shape[d] <= x.shape[d];
  }
  if (fits) return true;
  return Error{fmt::format("positions of {} do not fit {} along axis {}", to_text(i.shape),
                           to_text(x.shape), axis),
               0, 0};
}

// For each position in i, the place in x that index 0 along the axis would have.
std::vector<int64_t> firsts(const Dims& from, const Dims& to, size_t axis) {
  const Dims strides = strides_of(from);
  std::vector<Axis> axes;
  for (size_t d = 0; d < to.size(); ++d) axes.push_back(steps(to[d], d == axis ? 0 : strides[d]));
  return places(axes);
}

struct Along {
  size_t axis;
  int64_t n = 1;
  int64_t stride = 1;
};

Result<Along> along(const Evaluating& e) {
  const Array& x = e.x();
  if (x.shape.empty()) {
    return Error{fmt::format("{} needs an axis, {} has none", e.row().text, to_text(x.shape)), 0,
                 0};
  }
  ASSAY_TRY(axis, e.axis("axis", x.shape.size()));
  const auto a = static_cast<size_t>(axis);
  return Along{a, x.shape[a], strides_of(x.shape)[a]};
}

Result<Array> gather(const Evaluating& e) {
  const Array& x = e.x();
  const Array& i = e.y();
  ASSAY_TRY(a, along(e));
  ASSAY_TRY(fits, is_beside(x, i, a.axis));
  ASSAY_TRY(spent, e.spend(i.elements.size()));
  (void)fits, (void)spent;
  const std::vector<int64_t> first = firsts(x.shape, i.shape, a.axis);
  const Bounded zero = of_integer(x.dtype, 0);
  return Array{x.dtype, i.shape, Elements::NullaryExpr(i.elements.size(), [&](int64_t k) {
                 return element(x, first[static_cast<size_t>(k)], a.stride, a.n, i.elements[k],
                                zero);
               })};
}

Result<Array> take(const Evaluating& e) {
  const Array& x = e.x();
  const Array& i = e.y();
  ASSAY_TRY(a, along(e));
  const auto axis = static_cast<std::ptrdiff_t>(a.axis);
  Dims shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), i.shape.begin(), i.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  ASSAY_TRY(elements, count_of(shape));
  ASSAY_TRY(spent, e.spend(elements));
  (void)spent;
  const Bounded zero = of_integer(x.dtype, 0);
  return Array{x.dtype, std::move(shape), Elements::NullaryExpr(elements, [&](int64_t place) {
                 const int64_t column = place / a.stride % i.elements.size();
                 const int64_t row = place / a.stride / i.elements.size();
                 const int64_t first = row * a.n * a.stride + place % a.stride;
                 return element(x, first, a.stride, a.n, i.elements[column], zero);
               })};
}

Bounded last_of(Type, std::span<const Bounded> x) { return x.back(); }

// How what is scattered to one place joins what is there; the first of the list.
struct Joining {
  std::string_view name;
  Bounded (*fold)(Type t, std::span<const Bounded> x);
  uop::TypeSet over;
};
constexpr Joining kJoinings[] = {
    {"set", last_of, uop::kScalars}, {"add", sum, uop::kNumbers},
    {"mul", product, uop::kNumbers}, {"max", maximum, uop::kScalars},
    {"min", minimum, uop::kScalars},
};

// Where an element of y goes: the place in x, then its own.
using Sent = std::pair<int64_t, int64_t>;

// An index that is not known may mean any element of its lane.
void spoil(Array& x, int64_t first, const Along& a, const Bounded& index) {
  for (Bounded& element : lane_of(x.elements, first, a.n, a.stride)) {
    if (element.certainty != Certainty::Unspecified) element = index;
  }
}

void join(Array& x, const std::vector<Sent>& sent, const Elements& y, const Joining& joining,
          Type t) {
  std::vector<Bounded> group;
  for (size_t k = 0; k < sent.size();) {
    const int64_t place = sent[k].first;
    Bounded& element = x.elements[place];
    group = {element};
    for (; k < sent.size() && sent[k].first == place; ++k) group.push_back(y[sent[k].second]);
    element = joining.fold(t, group);
  }
}

Result<Array> scatter(const Evaluating& e) {
  Array x = e.x();
  const Array& i = e.y();
  const Array& y = *e.operands[2];
  ASSAY_TRY(a, along(e));
  ASSAY_TRY(fits, is_beside(x, i, a.axis));
  ASSAY_TRY(spent, e.spend(2 * (i.elements.size() + x.elements.size())));
  (void)fits, (void)spent;
  const Result<Dims> shape = broadcast(y.shape, i.shape);
  if (!shape.ok() || shape.value() != i.shape) {
    return Error{fmt::format("{} elements for positions of {}", to_text(y.shape), to_text(i.shape)),
                 0, 0};
  }
  const Joining& joining =
      *std::find_if(std::begin(kJoinings), std::end(kJoinings),
                    [&](const Joining& j) { return j.name == e.word("reduce"); });
  if (!joining.over.has(x.dtype)) {
    return Error{fmt::format("{} does not {}", uop::to_text(x.dtype), joining.name), 0, 0};
  }
  const Elements elements = moved(y, expanded(y.shape, i.shape)).elements;
  const std::vector<int64_t> first = firsts(x.shape, i.shape, a.axis);
  std::vector<Sent> sent;
  for (int64_t k = 0; k < i.elements.size(); ++k) {
    if (!i.elements[k].is_exact()) continue;
    const std::optional<int64_t> at = picked(i.elements[k], a.n);
    if (at) sent.emplace_back(first[static_cast<size_t>(k)] + *at * a.stride, k);
  }
  std::sort(sent.begin(), sent.end());
  join(x, sent, elements, joining, e.type());
  for (int64_t k = 0; k < i.elements.size(); ++k) {
    if (!i.elements[k].is_exact()) spoil(x, first[static_cast<size_t>(k)], a, i.elements[k]);
  }
  return x;
}

Result<Array> one_hot(const Evaluating& e) {
  const Array& i = e.x();
  const DType t = e.define.dtype;
  ASSAY_TRY(axis, e.axis("axis", i.shape.size() + 1));
  ASSAY_TRY(classes, e.size("classes"));
  ASSAY_TRY(on, e.number("on", t));
  ASSAY_TRY(off, e.number("off", t));
  Dims shape = i.shape;
  shape.insert(shape.begin() + axis, classes);
  ASSAY_TRY(elements, count_of(shape));
  ASSAY_TRY(spent, e.spend(elements));
  (void)spent;
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  return Array{t, std::move(shape), Elements::NullaryExpr(elements, [&](int64_t place) {
                 const int64_t row = place / (inner * classes);
                 const Bounded& index = i.elements[row * inner + place % inner];
                 const int64_t column = place / inner % classes;
                 const bool is_on = picked(index, classes) == column;
                 return !index.is_exact() ? index : is_on ? on : off;
               })};
}

constexpr EvaluateRow kIndexingRows[] = {
    {Gather, gather}, {Take, take}, {Scatter, scatter}, {OneHot, one_hot}};

}  // namespace

std::span<const EvaluateRow> indexing_rows() { return kIndexingRows; }

}  // namespace assay::reference
