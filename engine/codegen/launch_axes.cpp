#include "engine/codegen/launch_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/uop/bounds.h"
#include "engine/uop/dim.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Graph;
using uop::Int128;
using uop::Op;
using uop::Ref;

// Some neighbouring loops, the fastest first, that are one axis of the launch.
struct NamedAxis {
  std::vector<size_t> loops;
  Ref size;
};

using AxisSizes = std::array<Ref, 3>;

class Fit {
 public:
  Fit(Graph& g, const AxisNames& names, std::span<const Ref> sizes,
      const std::array<int64_t, 3>& limits)
      : g_(g), names_(names), limits_(limits), loops_(sizes.begin(), sizes.end()) {
    axes_.terms.assign(sizes.size(), uop::dim(g, 0));
  }

  Result<LaunchAxes> run() {
    std::vector<NamedAxis> axes = grouped();
    const bool fits = std::ranges::all_of(axes, [&](const NamedAxis& axis) {
      return most(axis.size) <= limits_[static_cast<size_t>(&axis - axes.data())];
    });
    if (fits) {
      for (size_t a = 0; a < axes.size(); ++a) unflatten(axes[a].loops, special(a, axes[a].size));
      return std::move(axes_);
    }
    return split(axes);
  }

 private:
  Int128 most(Ref size) { return std::max<Int128>(bounds(g_, size).hi, 0); }

  // Three axes at most: of more, the two neighbours with the fewest iterations become one.
  std::vector<NamedAxis> grouped() {
    std::vector<NamedAxis> axes;
    for (size_t i = loops_.size(); i-- > 0;) {
      if (!uop::is_dim(loops_[i], 1)) axes.push_back({{i}, loops_[i]});
    }
    while (axes.size() > 3) {
      size_t best = axes.size() - 2;
      for (size_t i = best; i-- > 0;) {
        if (pair_size(axes, i) < pair_size(axes, best)) best = i;
      }
      NamedAxis& into = axes[best];
      const NamedAxis& slower = axes[best + 1];
      into.loops.insert(into.loops.end(), slower.loops.begin(), slower.loops.end());
      into.size = uop::dim_mul(g_, into.size, slower.size);
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    return axes;
  }

  double pair_size(std::span<const NamedAxis> axes, size_t i) {
    return static_cast<double>(most(axes[i].size)) * static_cast<double>(most(axes[i + 1].size));
  }

  Ref special(size_t axis, Ref size) {
    axes_.sizes[axis] = most(size);
    if (uop::is_dim(size, 1)) return uop::dim(g_, 0);
    return g_.make(Op::Special, DType::Index, {size}, g_.name(names_.axes[axis]));
  }

  // The iteration of each of these loops, of which all together make `flat`.
  void unflatten(std::span<const size_t> loops, Ref flat) {
    Ref stride = uop::dim(g_, 1);
    for (const size_t& loop : loops) {
      const bool is_last = &loop == &loops.back();
      const Ref rest = uop::dim_div(g_, flat, stride);
      axes_.terms[loop] = is_last ? rest : g_.alu(Op::Mod, {rest, loops_[loop]});
      stride = uop::dim_mul(g_, stride, loops_[loop]);
    }
  }

  // All loops together on axes that are as many as fit.
  Result<LaunchAxes> split(std::span<const NamedAxis> axes) {
    NamedAxis all = {{}, uop::dim(g_, 1)};
    for (const NamedAxis& axis : axes) {
      all.loops.insert(all.loops.end(), axis.loops.begin(), axis.loops.end());
      all.size = uop::dim_mul(g_, all.size, axis.size);
    }
    std::optional<AxisSizes> sizes = by_factors(axes);
    const bool has_spare = !sizes;
    if (has_spare) sizes = with_spare(all.size);
    if (!sizes) {
      return Error{fmt::format("{:.0f} {} do not fit axes of {}, {} and {}",
                               static_cast<double>(most(all.size)), names_.what, limits_[0],
                               limits_[1], limits_[2])};
    }
    Ref flat = flattened(*sizes);
    if (has_spare) {
      axes_.inside = g_.alu(Op::Lt, {flat, all.size});
      const Ref one = uop::dim(g_, 1);
      const Ref last = uop::dim_sub(g_, all.size, one);
      flat = g_.alu(Op::Min, {flat, last});
    }
    unflatten(all.loops, flat);
    return std::move(axes_);
  }

  // The position of a work-group or -item among all of them.
  Ref flattened(const AxisSizes& sizes) {
    Ref flat = special(2, sizes[2]);
    for (const size_t a : {1, 0}) {
      const Ref outer = uop::dim_mul(g_, flat, sizes[a]);
      const Ref inner = special(a, sizes[a]);
      flat = uop::dim_add(g_, outer, inner);
    }
    return flat;
  }

  // Factors of an axis that is too large move on to the next, until all fit.
  std::optional<AxisSizes> by_factors(std::span<const NamedAxis> axes) {
    std::array<Int128, 3> n = {1, 1, 1};
    for (size_t a = 0; a < axes.size(); ++a) {
      if (!is_const(axes[a].size)) return std::nullopt;
      n[a] = as_int(axes[a].size->value());
    }
    for (size_t a = 0; a < 3; ++a) {
      while (n[a] > limits_[a]) {
        const Int128 factor = least_factor(n[a]);
        // The last axis takes what is left; its own factors would only come back to it.
        if (a == 2 || factor == 0) return std::nullopt;
        n[a] /= factor;
        n[a + 1] *= factor;
      }
    }
    AxisSizes sizes;
    for (size_t a = 0; a < 3; ++a) sizes[a] = uop::dim(g_, static_cast<int64_t>(n[a]));
    return sizes;
  }

  // The least prime factor of n, as far as it is small; else none, 0.
  static Int128 least_factor(Int128 n) {
    for (Int128 f = 2; f < 1024 && f <= n; ++f) {
      if (n % f == 0) return f;
    }
    return 0;
  }

  // Each axis as large as it may be until all have room.
  std::optional<AxisSizes> with_spare(Ref size) {
    AxisSizes sizes;
    for (size_t a = 0; a < 3; ++a) {
      const Ref limit = uop::dim(g_, limits_[a]);
      const bool fits = most(size) <= limits_[a];
      sizes[a] = fits ? size : limit;
      size = fits ? uop::dim(g_, 1) : uop::ceil_div(g_, size, limit);
    }
    if (most(size) > 1) return std::nullopt;
    return sizes;
  }

  Graph& g_;
  const AxisNames& names_;
  const std::array<int64_t, 3>& limits_;
  std::vector<Ref> loops_;
  LaunchAxes axes_;
};

}  // namespace

Result<LaunchAxes> launch_axes(Graph& g, const AxisNames& names, std::span<const Ref> sizes,
                               const std::array<int64_t, 3>& limits) {
  return Fit(g, names, sizes, limits).run();
}

}  // namespace assay::codegen
