#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/result.h"
#include "oracles/reference/reference.h"

namespace assay::reference {

using Dims = std::vector<int64_t>;

// What one program may cost: programs that ask for more are refused, not tried.
inline constexpr int64_t kMaxElements = int64_t{1} << 24;  // of one array
inline constexpr int64_t kMaxWork = int64_t{1} << 28;  // elements read and written, of a program

// "[2, 3]"
std::string to_text(const Dims& shape);

// The number of elements, or an error where it is past kMaxElements.
Result<int64_t> count_of(const Dims& shape);
// The same of a shape that has passed.
int64_t count(const Dims& shape);

Dims strides_of(const Dims& shape);

// An axis of a result, as what each of its positions adds to the place of an element in the source.
// Every movement, window, reduce and contraction is a list of such axes.
using Axis = std::vector<int64_t>;

// Added by positions that lie outside the source: however many axes are, the sum is negative.
inline constexpr int64_t kOutside = -(int64_t{1} << 40);

// n positions, each `stride` after the one before.
Axis steps(int64_t n, int64_t stride);
// The axes of a shape in row-major order.
std::vector<Axis> axes_of(const Dims& shape);
// The places in the source of the elements of a result, in row-major order; negative: outside.
std::vector<int64_t> places(std::span<const Axis> axes, int64_t first = 0);
Dims shape_of(std::span<const Axis> axes);

// The shape that two broadcast to, aligned from the right.
Result<Dims> broadcast(const Dims& a, const Dims& b);
// The axes of `from` as `to`, which it broadcasts to: repeated axes add nothing.
std::vector<Axis> expanded(const Dims& from, const Dims& to);

// The elements of x in an order of axes, of which none lies outside, or with those filled.
Array moved(const Array& x, std::span<const Axis> axes);
Array moved(const Array& x, std::span<const Axis> axes, const Bounded& outside);

}  // namespace assay::reference
