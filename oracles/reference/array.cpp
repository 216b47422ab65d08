#include "oracles/reference/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace assay::reference {

std::string to_text(const Dims& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Result<int64_t> count_of(const Dims& shape) {
  int64_t n = 1;
  for (const int64_t size : shape) {
    if (size == 0) return int64_t{0};
  }
  for (const int64_t size : shape) {
    if (size > kMaxElements / n) {
      return Error{fmt::format("{} is too large to evaluate", to_text(shape)), 0, 0};
    }
    n *= size;
  }
  return n;
}

int64_t count(const Dims& shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

Dims strides_of(const Dims& shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Axis steps(int64_t n, int64_t stride) {
  Axis axis(static_cast<size_t>(n));
  for (size_t i = 0; i < axis.size(); ++i) axis[i] = static_cast<int64_t>(i) * stride;
  return axis;
}

std::vector<Axis> axes_of(const Dims& shape) {
  const Dims strides = strides_of(shape);
  std::vector<Axis> axes;
  axes.reserve(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) axes.push_back(steps(shape[i], strides[i]));
  return axes;
}

std::vector<int64_t> places(std::span<const Axis> axes, int64_t first) {
  std::vector<int64_t> all = {first};
  std::vector<int64_t> next;
  for (const Axis& axis : axes) {
    next.resize(all.size() * axis.size());
    int64_t* to = next.data();
    for (const int64_t place : all) {
      for (const int64_t step : axis) *to++ = place + step;
    }
    std::swap(all, next);
  }
  return all;
}

Dims shape_of(std::span<const Axis> axes) {
  Dims shape;
  shape.reserve(axes.size());
  for (const Axis& axis : axes) shape.push_back(static_cast<int64_t>(axis.size()));
  return shape;
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims shape = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = shape[lead + i];
    if (size == shorter[i] || shorter[i] == 1) continue;
    if (size != 1) {
      return Error{fmt::format("{} and {} do not broadcast", to_text(a), to_text(b)), 0, 0};
    }
    size = shorter[i];
  }
  return shape;
}

std::vector<Axis> expanded(const Dims& from, const Dims& to) {
  const Dims strides = strides_of(from);
  const size_t lead = to.size() - from.size();
  std::vector<Axis> axes;
  axes.reserve(to.size());
  for (size_t i = 0; i < to.size(); ++i) {
    const bool repeats = i < lead || from[i - lead] == 1;
    axes.push_back(steps(to[i], repeats ? 0 : strides[i - lead]));
  }
  return axes;
}

Array moved(const Array& x, std::span<const Axis> axes) {
  const std::vector<int64_t> at = places(axes);
  return {x.dtype, shape_of(axes), x.elements(std::span(at))};
}

Array moved(const Array& x, std::span<const Axis> axes, const Bounded& outside) {
  const std::vector<int64_t> at = places(axes);
  return {x.dtype, shape_of(axes), Elements::NullaryExpr(std::ssize(at), [&](int64_t i) {
            const int64_t place = at[static_cast<size_t>(i)];
            return place < 0 ? outside : x.elements[place];
          })};
}

}  // namespace assay::reference
