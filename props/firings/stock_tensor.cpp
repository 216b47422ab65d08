#include <algorithm>
#include <vector>

#include "engine/schedule/prepare_rules.h"
#include "engine/uop/dim.h"
#include "engine/uop/shape.h"
#include "props/firings/stock.h"

namespace assay::props {
namespace {

using oracles::Choices;
using uop::Arg;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;
using Sizes = std::vector<int64_t>;

constexpr int64_t kManyElements = 32768;  // of a fold that the scheduler may take apart

class TensorMaker {
 public:
  TensorMaker(Graph& g, Choices& choices) : g_(g), c_(choices) {}

  Ref make() {
    std::vector<Ref> states;
    for (uint64_t i = 0, n = 1 + c_.below(3); i < n; i++) {
      states.push_back(c_.chance(1, 2) ? stored(value(3)) : rewritten());
    }
    return g_.make(Op::Sink, DType::Void, states, g_.info("", {}));
  }

 private:
  DType any_type() {
    return c_.pick({DType::I32, DType::F32, DType::U8, DType::I16, DType::U64, DType::F16});
  }
  Ref device() {
    return g_.make(Op::Device, DType::Void, {}, g_.name(c_.pick({"sim:0", "sim:1"})));
  }
  Ref any_buffer() {
    const DType t = any_type();
    return buffer(t, some_sizes());
  }
  Ref buffer(DType t, const Sizes& sizes) {
    std::vector<Ref> src;
    for (const int64_t n : sizes) src.push_back(uop::dim(g_, n));
    src.push_back(device());
    return g_.make(Op::Buffer, t, src, Arg::place(next_++, uop::AddrSpace::Global));
  }
  Sizes some_sizes() {
    Sizes sizes(1 + c_.below(3));
    for (int64_t& n : sizes) n = c_.chance(1, 8) ? 0 : c_.between(1, 4);
    return sizes;
  }
  Sizes sizes(Ref u) {
    Sizes all;
    for (const Ref s : uop::shape(g_, u)) all.push_back(static_cast<int64_t>(s->arg.bits));
    return all;
  }
  uop::Shape shape(const Sizes& all) {
    std::vector<Ref> refs;
    for (const int64_t n : all) refs.push_back(uop::dim(g_, n));
    return uop::intern_shape(g_, refs);
  }
  static int64_t count(const Sizes& all) {
    int64_t n = 1;
    for (const int64_t s : all) n *= s;
    return n;
  }

  Ref stored(Ref x) {
    const Ref to = buffer(x->dtype, sizes(x));
    return written(to, to, x);
  }
  Ref written(Ref state, Ref view, Ref x) {
    const Ref store = g_.make(Op::Store, DType::Void, {view, x});
    return g_.make(Op::After, state->dtype, {state, store});
  }

  Ref value(int depth) {
    if (depth == 0) return any_buffer();
    if (c_.chance(1, 24)) return many();
    const Ref x = value(depth - 1);
    switch (c_.below(9)) {
      case 0: return g_.make(Op::Contiguous, x->dtype, {x});
      case 1: return copied(x);
      case 2: return reduced(x);
      case 3: return with_other_bits(x);
      case 4: return padded(x);
      case 5: return reshaped(x);
      case 6: return g_.alu(Op::Add, {x, x});
      case 7: return cast(x);
      default: return turned(x);
    }
  }
  // A fold of many elements to one.
  Ref many() {
    const int64_t inner = c_.between(1, 3);
    const Ref x = buffer(c_.pick({DType::I32, DType::F32}), {kManyElements, inner});
    const Op op = c_.pick({Op::Add, Op::Max});
    return g_.make(Op::Reduce, x->dtype, {x}, Arg::fold(op, 1));
  }
  Ref copied(Ref x) {
    const Ref to = device();
    const Ref moved = c_.chance(1, 2) ? x : turned(x);
    return g_.make(Op::Copy, x->dtype, {moved, to});
  }
  Ref reduced(Ref x) {
    const auto axes = static_cast<int32_t>(c_.below(sizes(x).size() + 1));
    if (axes == 0) return x;
    const Op op = c_.pick({Op::Add, Op::Max, Op::Min});
    return g_.make(Op::Reduce, x->dtype, {x}, Arg::fold(op, axes));
  }
  Ref with_other_bits(Ref x) {
    const DType t = any_type();
    const Sizes from = sizes(x);
    const int a = uop::bits_of(x->dtype);
    const int b = uop::bits_of(t);
    if (t == x->dtype || (a != b && (from.empty() || from.back() * a % b != 0))) return x;
    return g_.make(Op::Bitcast, t, {x});
  }
  Ref cast(Ref x) {
    const DType t = any_type();
    const bool may_not_fit = uop::is_float(x->dtype) && !uop::is_float(t);
    return t == x->dtype || may_not_fit ? x : g_.make(Op::Cast, t, {x});
  }
  Ref padded(Ref x) {
    std::vector<Ref> amounts;
    for (size_t i = 0; i < 2 * sizes(x).size(); i++)
      amounts.push_back(uop::dim(g_, c_.between(0, 2)));
    return uop::pad(g_, x, amounts);
  }
  Ref reshaped(Ref x) {
    Sizes to = sizes(x);
    if (c_.chance(1, 2)) std::reverse(to.begin(), to.end());
    if (c_.chance(1, 2)) to = {count(to)};
    return uop::reshape(g_, x, shape(to));
  }
  Ref turned(Ref x) {
    std::vector<int64_t> axes;
    for (size_t i = sizes(x).size(); i-- > 0;) axes.push_back(static_cast<int64_t>(i));
    return c_.chance(1, 2) ? uop::flip(g_, x, axes) : uop::permute(g_, x, axes);
  }

  // A buffer that is written to: through a view, with what it holds, twice, or with what is
  // nothing.
  Ref rewritten() {
    const Ref state = any_buffer();
    Ref view = state;
    for (uint64_t i = 0, n = c_.below(3); i < n; i++) {
      const uint64_t way = c_.below(3);
      view = way == 0 ? with_other_bits(view) : way == 1 ? turned(view) : reshaped(view);
    }
    switch (c_.below(4)) {
      case 0: return written(state, view, view);
      case 1: {
        const Ref nothing = g_.make(Op::Invalid, view->dtype, {});
        const uop::Shape to = uop::shape(g_, view);
        return written(state, view, to.empty() ? nothing : uop::expand(g_, nothing, to));
      }
      case 2: {
        const Ref x = buffer(state->dtype, sizes(state));
        const Ref once = written(state, state, x);
        return written(once, once, x);
      }
      default: break;
    }
    const Ref x = buffer(view->dtype, sizes(view));
    if (c_.chance(1, 3)) {  // a list from another device
      const Ref list = uop::reshape(g_, x, shape({count(sizes(x))}));
      const Ref to = device();
      const Ref moved = g_.make(Op::Copy, x->dtype, {list, to});
      return written(state, view, uop::reshape(g_, moved, shape(sizes(view))));
    }
    return written(state, view, x);
  }

  Graph& g_;
  Choices& c_;
  int32_t next_ = 0;
};

}  // namespace

Result<Ref> tensor_stock(Graph& g, Choices& choices, bool is_prepared) {
  const Ref sink = TensorMaker(g, choices).make();
  if (!is_prepared) return sink;
  const uop::RuleSet* const sets[] = {&schedule::store_rules()};
  return uop::Run(g).rewrite(sets, sink);
}

}  // namespace assay::props
