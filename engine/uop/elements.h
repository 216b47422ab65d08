#pragma once

#include <map>
#include <vector>

#include "engine/check.h"
#include "engine/uop/walk.h"

// What movement does, for tests: where each element of a value comes from. Shares nothing with the
// engine's shapes.
namespace assay::uop {

// The elements of a value in row-major order, each named by its place in the one that is moved; -1
// is what a pad adds.
struct Elements {
  std::vector<int64_t> sizes;
  std::vector<int64_t> values;
  bool operator==(const Elements&) const = default;
};

inline int64_t count_of(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

// The constants that a node has for sources from the one at `first` on.
inline std::vector<int64_t> constants_of(Ref u, size_t first) {
  std::vector<int64_t> numbers;
  for (const Ref s : u->src.subspan(first)) {
    numbers.push_back(static_cast<int64_t>(as_int(s->value())));
  }
  return numbers;
}

inline std::vector<int64_t> moved_sizes(Ref u, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> amounts = constants_of(u, 1);
  std::vector<int64_t> moved;
  if (u->op == Op::Reshape || u->op == Op::Expand) return amounts;
  for (size_t i = 0; i < sizes.size(); i++) {
    switch (u->op) {
      case Op::Permute: moved.push_back(sizes[static_cast<size_t>(u->arg.numbers()[i])]); break;
      case Op::Pad: moved.push_back(amounts[2 * i] + sizes[i] + amounts[2 * i + 1]); break;
      case Op::Shrink: moved.push_back(amounts[2 * i + 1]); break;
      default: moved.push_back(sizes[i]);
    }
  }
  return moved;
}

// Where the element at `at` of the moved value lies in a value of these sizes.
inline std::vector<int64_t> origin(Ref u, const std::vector<int64_t>& sizes,
                                   const std::vector<int64_t>& at) {
  const std::vector<int64_t> amounts = constants_of(u, 1);
  std::vector<int64_t> from(sizes.size());
  for (size_t i = 0; i < sizes.size(); i++) {
    switch (u->op) {
      case Op::Expand: from[i] = sizes[i] == 1 ? 0 : at[i + at.size() - sizes.size()]; break;
      case Op::Permute: from[static_cast<size_t>(u->arg.numbers()[i])] = at[i]; break;
      case Op::Pad: from[i] = at[i] - amounts[2 * i]; break;
      case Op::Shrink: from[i] = at[i] + amounts[2 * i]; break;
      default: from[i] = at[i];
    }
  }
  if (u->op != Op::Flip) return from;
  for (const int64_t axis : u->arg.numbers()) {
    const auto i = static_cast<size_t>(axis);
    from[i] = sizes[i] - 1 - at[i];
  }
  return from;
}

inline Elements moved(Ref u, const Elements& x) {
  Elements result = {moved_sizes(u, x.sizes), {}};
  if (u->op == Op::Reshape) return {result.sizes, x.values};
  for (int64_t flat = 0; flat < count_of(result.sizes); flat++) {
    std::vector<int64_t> at(result.sizes.size());
    int64_t rest = flat;
    for (size_t i = at.size(); i-- > 0; rest /= result.sizes[i]) at[i] = rest % result.sizes[i];
    const std::vector<int64_t> from = origin(u, x.sizes, at);
    int64_t place = 0;
    bool inside = true;
    for (size_t i = 0; i < from.size(); i++) {
      inside = inside && 0 <= from[i] && from[i] < x.sizes[i];
      place = place * x.sizes[i] + from[i];
    }
    result.values.push_back(inside ? x.values[static_cast<size_t>(place)] : -1);
  }
  return result;
}

// The elements of a chain of movements of a PARAM, all of whose sizes are constants.
inline Elements elements_of(Graph& g, Ref root) {
  std::map<Ref, Elements> known;
  for (const Ref u : toposort(g, root)) {
    if (is_const(u)) continue;
    if (is_movement(u->op)) {
      known[u] = moved(u, known.at(u->src[0]));
      continue;
    }
    ASSAY_CHECK(u->op == Op::Param, "{} moves nothing", to_text(u->op));
    Elements x = {constants_of(u, 0), {}};
    for (int64_t i = 0; i < count_of(x.sizes); i++) x.values.push_back(i);
    known[u] = std::move(x);
  }
  return known.at(root);
}

}  // namespace assay::uop
