#include "engine/schedule/rangeify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "engine/check.h"
#include "engine/schedule/access.h"
#include "engine/uop/dim.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::AddrSpace;
using uop::Arg;
using uop::AxisType;
using uop::DType;
using uop::is_const;
using uop::is_dim;
using uop::is_movement;
using uop::is_scalar;
using uop::Op;
using uop::OpSet;

// How a node of the tensor graph comes by its element.
enum class Kind : uint8_t {
  Other,    // no value: sizes, devices, effects
  Uniform,  // one element, whatever the index
  Leaf,     // storage or iota, or movement over a leaf: each reader has its own index
  Value,    // computed at one list of ranges
};

struct Node {
  Ref u = nullptr;
  Kind kind = Kind::Other;
  bool read = false;       // some reader has told its ranges
  bool disagree = false;   // another has told others
  bool staged = false;     // has ranges of its own
  bool passes = false;     // a store takes it as it is
  bool ends = false;       // a broadcast below ends ranges of the readers
  bool broadcast = false;  // a reader repeats it
  Access out;              // where its element is wanted
  Access in;               // where its source is read, if that differs
  Ref inside = nullptr;    // of a PAD
  Ref term = nullptr;      // its element, its STAGE, or its state
};

bool is_storage(Op op) { return op == Op::Buffer || op == Op::Param || op == Op::After; }

bool has_range(Graph& g, Ref u) { return !is_const(u) && !uop::ranges(g, u).empty(); }

class Rangeify {
 public:
  explicit Rangeify(Run& run) : g_(run.graph()), indexer_(run) {}

  Result<Ref> rewrite(Ref sink) {
    gather(sink);
    for (size_t i = nodes_.size(); i-- > 0;) assign(nodes_[i]);
    for (Node& n : nodes_) {
      lower(n);
      if (!trouble_.empty()) return Error{trouble_};
    }
    if (indexer_.trouble()) return *indexer_.trouble();
    return node(sink).term;
  }

 private:
  Node& node(Ref u) { return nodes_[place_.at(u)]; }

  void gather(Ref sink) {
    const std::vector<Ref> order = uop::toposort(g_, sink);
    nodes_.reserve(order.size());
    for (const Ref u : order) {
      place_.set(u, static_cast<uint32_t>(nodes_.size()));
      nodes_.push_back({});
      Node& n = nodes_.back();
      n.u = u;
      n.kind = kind_of(u);
      if (n.kind == Kind::Uniform) n.term = uniform_term(u);
      if (u->op == Op::Range) next_range_ = std::max(next_range_, u->arg.number() + 1);
    }
  }

  Kind kind_of(Ref u) {
    if (u->dtype == DType::Void || u->op == Op::Range) return Kind::Other;
    if (is_storage(u->op) || u->op == Op::Stage) return Kind::Leaf;
    if (u->src.empty() || u->op == Op::Bind) return Kind::Uniform;
    if (is_movement(u->op)) {
      const Kind below = node(u->src[0]).kind;
      if (below == Kind::Uniform && u->op == Op::Pad) return Kind::Leaf;
      return below;
    }
    if (!is_scalar(u->op)) return Kind::Value;
    const bool uniform =
        std::ranges::all_of(u->src, [&](Ref s) { return node(s).kind == Kind::Uniform; });
    if (uniform) return Kind::Uniform;
    // The terms of sizes and of iota.
    const bool other =
        std::ranges::any_of(u->src, [&](Ref s) { return node(s).kind == Kind::Other; });
    return other ? Kind::Other : Kind::Value;
  }

  Ref uniform_term(Ref u) {
    if (u->src.empty()) return u;
    if (is_movement(u->op) || u->op == Op::Bind) return node(u->src[0]).term;
    std::vector<Ref> sources;
    for (const Ref s : u->src) sources.push_back(node(s).term);
    return g_.with_sources(u, sources);
  }

  // ---- from readers to what they read

  // The size is simplified first: a rule that found a shorter form later would make another range.
  Ref fresh(Ref size, AxisType type) {
    size = indexer_.simplified(size);
    if (is_dim(size, 1)) return uop::dim(g_, 0);
    return g_.make(Op::Range, DType::Index, {size},
                   Arg::axis(static_cast<int32_t>(next_range_++), type));
  }

  Access fresh_access(Shape sizes) {
    std::vector<Ref> index;
    for (const Ref size : sizes) index.push_back(fresh(size, AxisType::Weak));
    return {uop::intern_shape(g_, index), nullptr};
  }

  // A reader wants the element of `s` at `at`.
  void ask(Ref s, const Access& at, bool ends, bool broadcast = false) {
    Node& n = node(s);
    if (n.kind != Kind::Value) return;
    n.ends = n.ends || ends;
    n.broadcast = n.broadcast || broadcast;
    if (!n.read) {
      n.read = true;
      n.out = at;
      return;
    }
    n.passes = false;
    n.disagree = n.disagree || !same(n.out.index, at.index);
    if (!n.disagree) n.out.gate = indexer_.either(n.out.gate, at.gate);
  }

  void assign(Node& n) {
    if (n.u->op == Op::Store) return assign_store(n);
    if (n.kind != Kind::Value || !n.read) return;
    choose_ranges(n);
    const Ref u = n.u;
    if (is_scalar(u->op)) return ask_operands(n);
    n.in = n.out;
    if (is_movement(u->op)) {
      n.in = indexer_.through(u, n.out, &n.inside);
      if (u->op == Op::Expand) n.ends = n.ends || repeats(u->src[0], u, n.out);
    } else if (u->op == Op::Reduce) {
      n.in = reduce_access(n);
    } else if (u->op == Op::Stack) {
      n.in.index = uop::intern_shape(g_, n.out.index.subspan(1));
    }
    const size_t operands = u->op == Op::Stack ? u->src.size() : 1;
    for (const Ref s : u->src.first(operands)) ask(s, n.in, n.ends);
  }

  void choose_ranges(Node& n) {
    const Op op = n.u->op;
    const bool always = (op == Op::Contiguous || op == Op::Copy) && !n.passes;
    const bool folds = op == Op::Reduce;
    const bool ends = (is_scalar(op) && n.ends) || (folds && (n.ends || n.broadcast));
    if (always || n.disagree || ends) {
      n.staged = true;
      n.out = fresh_access(uop::shape(g_, n.u));
      n.ends = false;
      return;
    }
    n.ends = n.ends || n.broadcast;
  }

  // Whether the reader's ranges run over axes along which the source is repeated.
  bool repeats(Ref s, Ref reader, const Access& at) {
    const Shape part = uop::shape(g_, s);
    const Shape whole = uop::shape(g_, reader);
    if (same(part, whole)) return false;
    const size_t added = whole.size() - part.size();
    for (size_t i = 0; i < whole.size(); ++i) {
      if (i >= added && !is_dim(part[i - added], 1)) continue;
      if (has_range(g_, at.index[i])) return true;
    }
    return false;
  }

  void ask_operands(const Node& n) {
    const Shape whole = uop::shape(g_, n.u);
    for (const Ref s : n.u->src) {
      if (node(s).kind != Kind::Value) continue;
      const Access at = indexer_.broadcast(uop::shape(g_, s), whole, n.out);
      ask(s, at, n.ends, repeats(s, n.u, n.out));
    }
  }

  Access reduce_access(const Node& n) {
    const Shape sizes = uop::shape(g_, n.u->src[0]);
    std::vector<Ref> index;
    for (int64_t i = 0; i < n.u->arg.number(); ++i) {
      index.push_back(fresh(sizes[static_cast<size_t>(i)], AxisType::Reduce));
    }
    index.insert(index.end(), n.out.index.begin(), n.out.index.end());
    return {uop::intern_shape(g_, index), n.out.gate};
  }

  void assign_store(Node& n) {
    const Ref value = n.u->src[1];
    const Shape whole = uop::shape(g_, n.u->src[0]);
    n.out = fresh_access(whole);
    n.in = n.out;
    for (Ref at = n.u->src[0]; !is_storage(at->op); at = at->src[0]) {
      if (!is_movement(at->op) || at->op == Op::Expand) {
        trouble_ = fmt::format("a store through {} has no place", uop::to_text(at->op));
        return;
      }
      Ref inside = nullptr;
      n.in = indexer_.through(at, n.in, &inside);
    }
    Node& v = node(value);
    v.passes = !v.read && (value->op == Op::Contiguous || (value->op == Op::Copy && is_run(n)));
    ask(value, indexer_.broadcast(uop::shape(g_, value), whole, n.out), false);
  }

  // Whether a store to a list of elements stores them side by side.
  bool is_run(const Node& n) {
    if (n.out.index.size() > 1 || n.in.gate != nullptr) return false;
    Ref state = n.u->src[0];
    while (!is_storage(state->op)) state = state->src[0];
    const Ref place = indexer_.flat(uop::shape(g_, state), n.in.index);
    const Ref r = n.out.index.empty() ? uop::dim(g_, 0) : n.out.index[0];
    return is_const(place) || place == r ||
           (place->op == Op::Add && place->src[0] == r && is_const(place->src[1]));
  }

  // ---- from sources to users

  void lower(Node& n) {
    const Ref u = n.u;
    if (u->op == Op::After || u->op == Op::Sink) {
      n.term = rebuilt(n);
    } else if (u->op == Op::Buffer || u->op == Op::Param) {
      n.term = u;
    } else if (u->op == Op::Store) {
      n.term = lowered_store(n);
    } else if (n.kind == Kind::Value && n.read) {
      n.term = element(n);
      if (n.staged) n.term = stage(n);
    }
  }

  Ref rebuilt(const Node& n) {
    sources_.clear();
    for (const Ref s : n.u->src) {
      const bool fits = is_storage(s->op) || s->op == Op::Store;
      if (!fits) trouble_ = fmt::format("{} is no state", uop::to_text(s->op));
      sources_.push_back(fits ? node(s).term : s);
    }
    return g_.with_sources(n.u, sources_);
  }

  Ref lowered_store(const Node& n) {
    const Ref value = n.u->src[1];
    Ref state = n.u->src[0];
    while (!is_storage(state->op)) state = state->src[0];
    const Access at = indexer_.broadcast(uop::shape(g_, value), uop::shape(g_, n.u->src[0]), n.out);
    const Ref element = read(value, at);
    const Ref target = index(node(state).term, n.in);
    const Ref store = g_.make(Op::Store, DType::Void, {target, element});
    std::vector<Ref> sources = {store};
    for (const Ref r : n.out.index) {
      if (r->op == Op::Range) sources.push_back(r);
    }
    return g_.make(Op::End, DType::Void, sources);
  }

  Ref stage(const Node& n) {
    std::vector<Ref> sources = {n.term};
    sources.insert(sources.end(), n.out.index.begin(), n.out.index.end());
    return g_.make(Op::Stage, n.u->dtype, sources, Arg::place(0, AddrSpace::Global));
  }

  Ref index(Ref storage, const Access& at) {
    index_.assign(1, storage);
    index_.insert(index_.end(), at.index.begin(), at.index.end());
    if (index_.size() > 1) index_[1] = gated(g_, index_[1], at.gate);
    return g_.make(Op::Index, storage->dtype, index_);
  }

  // The element of `s` at `at`.
  Ref read(Ref s, const Access& at) {
    const Node& n = node(s);
    if (n.kind == Kind::Uniform) return n.term;
    if (n.kind == Kind::Leaf) return read_leaf(s, at);
    return n.staged ? index(n.term, at) : n.term;
  }

  Ref read_leaf(Ref s, Access at) {
    std::vector<Ref> conditions;
    Ref base = s;
    while (is_movement(base->op) && node(base).kind == Kind::Leaf) {
      Ref inside = nullptr;
      at = indexer_.through(base, at, &inside);
      if (inside != nullptr) conditions.push_back(inside);
      base = base->src[0];
    }
    Ref term = leaf_element(base, at);
    for (size_t i = conditions.size(); i-- > 0;) term = or_zero(g_, conditions[i], term);
    return term;
  }

  Ref leaf_element(Ref base, const Access& at) {
    if (node(base).kind == Kind::Uniform) return node(base).term;
    if (base->op != Op::Stage) return index(node(base).term, at);
    uop::Substitution map;
    for (size_t i = 0; i < at.index.size(); ++i) map[base->src[i + 1]] = at.index[i];
    return uop::substitute(g_, base->src[0], map);
  }

  Ref element(const Node& n) {
    const Ref u = n.u;
    if (is_scalar(u->op)) return scalar_element(n);
    if (u->op == Op::Stack) return chosen(n);
    const Ref x = read(u->src[0], n.in);
    switch (u->op) {
      case Op::Pad: return or_zero(g_, n.inside, x);
      case Op::Reduce: return folded(n, x);
      case Op::Contiguous: return n.staged ? g_.make(Op::Contiguous, u->dtype, {x}) : x;
      case Op::Copy: return g_.make(Op::Copy, u->dtype, {x, u->src[1]});
      default: break;
    }
    if (!is_movement(u->op)) {
      trouble_ = fmt::format("{} has no place in a tensor graph", uop::to_text(u->op));
    }
    return x;
  }

  Ref scalar_element(const Node& n) {
    const Shape whole = uop::shape(g_, n.u);
    sources_.clear();
    for (const Ref s : n.u->src) {
      sources_.push_back(read(s, indexer_.broadcast(uop::shape(g_, s), whole, n.out)));
    }
    return g_.with_sources(n.u, sources_);
  }

  Ref chosen(const Node& n) {
    const Ref which = n.out.index[0];
    const auto count = static_cast<int64_t>(n.u->src.size());
    if (is_const(which)) {
      const int64_t k =
          std::clamp(static_cast<int64_t>(as_int(which->value())), int64_t{0}, count - 1);
      return read(n.u->src[static_cast<size_t>(k)], n.in);
    }
    Ref result = read(n.u->src.back(), n.in);
    for (int64_t k = count - 1; k-- > 0;) {
      const Ref element = read(n.u->src[static_cast<size_t>(k)], n.in);
      const Ref here = g_.make(Op::Eq, DType::Bool, {which, uop::dim(g_, k)});
      result = g_.make(Op::Where, n.u->dtype, {here, element, result});
    }
    return result;
  }

  // A fold starts from its unit, which shows in one case: -0.0 becomes 0.0.
  Ref folded(const Node& n, Ref x) {
    std::vector<Ref> sources = {x};
    for (const Ref r : n.in.index.first(static_cast<size_t>(n.u->arg.number()))) {
      if (r->op == Op::Range) sources.push_back(r);
    }
    const Op op = n.u->arg.fold_op();
    if (sources.size() > 1) return g_.make(Op::Reduce, x->dtype, sources, Arg::fold(op, 0));
    if (op != Op::Add || !uop::is_float(x->dtype)) return x;
    const Ref zero = g_.constant(uop::zero_of(x->dtype));
    return g_.make(Op::Add, x->dtype, {x, zero});
  }

  Graph& g_;
  Indexer indexer_;
  std::vector<Node> nodes_;
  uop::NodeMap<uint32_t> place_;
  std::vector<Ref> sources_;
  std::vector<Ref> index_;
  int64_t next_range_ = 0;
  std::string trouble_;
};

Result<Ref> rangeify(Run& run, Ref sink) { return Rangeify(run).rewrite(sink); }

}  // namespace

const uop::Pass& rangeify_pass() {
  static const uop::Pass pass = {.name = "run_rangeify",
                                 .accepts = uop::graph_spec(),
                                 .yields = uop::graph_spec(),
                                 .rules = {},
                                 .options = {},
                                 .function = rangeify};
  return pass;
}

Result<Ref> run_rangeify(Run& run, Ref sink) { return run_pass(rangeify_pass(), run, sink); }

}  // namespace assay::schedule
