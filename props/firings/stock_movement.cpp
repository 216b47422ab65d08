#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/shape.h"
#include "props/firings/stock.h"

namespace assay::props {
namespace {

using oracles::Choices;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;

constexpr int64_t kLongestAxis = 1 << 20;
constexpr uint64_t kMostAxes = 6;

class MovementMaker {
 public:
  MovementMaker(Graph& g, Choices& choices) : g_(g), c_(choices) {}

  Ref chain(OpSet moves) {
    std::vector<Op> ops;
    for (int i = 0; i < uop::kOpCount; i++) {
      const Op op = static_cast<Op>(i);
      if (uop::is_movement(op) && moves.has(op)) ops.push_back(op);
    }
    Op op = c_.pick(std::span<const Op>(ops));
    Ref x = base(op);
    for (uint64_t i = 0, n = 1 + c_.below(3); i < n; i++) {
      if (c_.chance(1, 4)) op = c_.pick(std::span<const Op>(ops));
      // What a reshape takes apart has constant sizes.
      if (op == Op::Reshape && !uop::constant_size(uop::shape(g_, x))) op = x->op;
      if (!uop::is_movement(op)) break;
      x = moved(x, op);
    }
    return x;
  }

 private:
  Ref variable(std::string_view kind, int64_t least) {
    const std::string name = fmt::format("{}{}", kind, count_++);
    const uop::Value lo = uop::of_int(DType::Index, least);
    return g_.variable(name, lo, uop::of_int(DType::Index, kLongestAxis));
  }
  Ref base(Op op) {
    std::vector<Ref> sizes;
    const uint64_t rank = 1 + c_.below(op == Op::Reshape ? 3 : kMostAxes);
    for (uint64_t i = 0; i < rank; i++) {
      const bool is_one = op == Op::Expand && c_.chance(1, 2);
      const bool is_known = op == Op::Reshape || c_.chance(1, 8);
      const Ref size = is_one     ? uop::dim(g_, 1)
                       : is_known ? uop::dim(g_, c_.between(1, 4))
                                  : variable("n", static_cast<int64_t>(c_.below(2)));
      sizes.push_back(size);
    }
    return g_.make(Op::Param, DType::F32, sizes, uop::Arg::number(0));
  }
  Ref amount() { return c_.chance(1, 3) ? uop::dim(g_, 0) : variable("p", 0); }

  Ref moved(Ref x, Op op) {
    const uop::Shape sizes = uop::shape(g_, x);
    switch (op) {
      case Op::Reshape: return reshaped(x);
      case Op::Expand: {
        std::vector<Ref> to;
        for (const Ref s : sizes) {
          to.push_back(uop::is_dim(s, 1) && c_.chance(2, 3) ? variable("e", 0) : s);
        }
        if (c_.chance(1, 4)) to.insert(to.begin(), variable("e", 0));
        return uop::expand(g_, x, to);
      }
      case Op::Permute: return uop::permute(g_, x, shuffled(sizes.size()));
      case Op::Flip: {
        std::vector<int64_t> axes = shuffled(sizes.size());
        axes.resize(c_.below(axes.size() + 1));
        std::sort(axes.begin(), axes.end());
        return uop::flip(g_, x, axes);
      }
      case Op::Pad: return padded(x);
      default: return shrunk(x);
    }
  }
  std::vector<int64_t> shuffled(size_t count) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < count; i++) axes.push_back(static_cast<int64_t>(i));
    if (c_.chance(1, 4)) return axes;
    for (size_t i = count; i > 1; i--) std::swap(axes[i - 1], axes[c_.below(i)]);
    return axes;
  }
  Ref reshaped(Ref x) {
    int64_t left = uop::constant_size(uop::shape(g_, x)).value_or(1);
    std::vector<Ref> to;
    for (int64_t factor = 2; factor < 5; factor++) {
      if (left % factor != 0 || c_.chance(1, 2)) continue;
      to.push_back(uop::dim(g_, factor));
      left /= factor;
    }
    to.push_back(uop::dim(g_, left));
    return c_.chance(1, 4) ? uop::reshape(g_, x, uop::shape(g_, x)) : uop::reshape(g_, x, to);
  }
  Ref padded(Ref x) {
    const bool is_nothing = c_.chance(1, 4);
    std::vector<Ref> amounts;
    for (size_t i = 0; i < 2 * uop::shape(g_, x).size(); i++) {
      amounts.push_back(is_nothing ? uop::dim(g_, 0) : amount());
    }
    return uop::pad(g_, x, amounts);
  }
  Ref shrunk(Ref x) {
    const bool is_whole = c_.chance(1, 4);
    const bool takes_away = x->op == Op::Pad && c_.chance(1, 2);
    const uop::Shape sizes = uop::shape(g_, x);
    std::vector<Ref> bounds;
    for (size_t i = 0; i < sizes.size(); i++) {
      const Ref begin = takes_away                    ? x->src[2 * i + 1]
                        : is_whole || c_.chance(1, 4) ? uop::dim(g_, 0)
                                                      : variable("b", 0);
      bounds.push_back(begin);
      const Ref kept = takes_away ? uop::shape(g_, x->src[0])[i]
                       : is_whole ? sizes[i]
                                  : variable("s", 0);
      bounds.push_back(kept);
    }
    return uop::shrink(g_, x, bounds);
  }

  Graph& g_;
  Choices& c_;
  int count_ = 0;
};

}  // namespace

Ref moved_stock(Graph& g, Choices& choices, OpSet moves) {
  return MovementMaker(g, choices).chain(moves);
}

}  // namespace assay::props
