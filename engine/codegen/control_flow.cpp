#include "engine/codegen/control_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/codegen/forms.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Arg;
using uop::Graph;
using uop::NodeMap;
using uop::Op;
using uop::Ref;

bool has(std::span<const Ref> list, Ref u) {
  return std::find(list.begin(), list.end(), u) != list.end();
}

// The ranges that an END closes, each once, in the order of its sources.
void closed_by(Graph& g, Ref end, std::vector<Ref>& out) {
  out.clear();
  for (const Ref s : end->src.subspan(1)) {
    if (s->op == Op::Range) {
      if (!has(out, s)) out.push_back(s);
      continue;
    }
    for (const Ref r : uop::ranges(g, s)) {
      if (!has(out, r)) out.push_back(r);
    }
  }
}

// Whether the count of r depends on a range of the list from `from` on.
bool depends_on_later(Graph& g, Ref r, std::span<const Ref> later) {
  const std::span<const Ref> outer = uop::ranges(g, r);
  return std::any_of(later.begin(), later.end(),
                     [&](Ref other) { return other != r && has(outer, other); });
}

// Puts ranges behind those that their counts depend on, and moves no others.
void outer_first(Graph& g, std::vector<Ref>& closed) {
  for (size_t i = 0; i < closed.size(); i++) {
    size_t next = i;
    while (depends_on_later(g, closed[next], std::span(closed).subspan(i))) next++;
    std::rotate(closed.begin() + static_cast<ptrdiff_t>(i),
                closed.begin() + static_cast<ptrdiff_t>(next),
                closed.begin() + static_cast<ptrdiff_t>(next) + 1);
  }
}

class Splitter {
 public:
  explicit Splitter(Graph& g) : g_(g) {}

  Ref split(Ref root) {
    const std::vector<Ref> order = uop::toposort(g_, root);
    for (const Ref u : order) {
      if (u->op == Op::Range) fresh_ = std::max(fresh_, static_cast<int32_t>(u->arg.number()) + 1);
    }
    for (const Ref u : order) {
      const Ref rebuilt = rebuild(u, now_);
      now_.set(u, rebuilt->op == Op::End ? nest(rebuilt) : rebuilt);
    }
    return now_.at(root);
  }

 private:
  Ref rebuild(Ref u, const NodeMap<Ref>& map) {
    sources_.assign(u->src.begin(), u->src.end());
    bool changed = false;
    for (Ref& s : sources_) {
      const Ref* found = map.find(s);
      if (found == nullptr || *found == s) continue;
      s = *found;
      changed = true;
    }
    return changed ? g_.with_sources(u, sources_) : u;
  }

  Ref nest(Ref end) {
    std::vector<Ref> closed;
    closed_by(g_, end, closed);
    outer_first(g_, closed);
    Ref body = end->src[0];
    for (size_t i = closed.size(); i-- > 0;) body = close(body, closed[i]);
    return body;
  }

  Ref close(Ref body, Ref range) {
    const Ref end = g_.make(Op::End, body->dtype, {body, range});
    const Ref* first = end_of_.find(range);
    if (first != nullptr && *first != end) return another_loop(end, range);
    end_of_.set(range, end);
    return end;
  }

  // The same loop with ranges of its own: `range` and those of the loops inside of it. ENDs come
  // after those that they enclose, so one walk from the top finds them.
  Ref another_loop(Ref end, Ref range) {
    const std::vector<Ref> order = uop::toposort(g_, end);
    NodeMap<Ref> copy;
    rename(range, copy);
    for (size_t i = order.size() - 1; i-- > 0;) {
      const Ref u = order[i];
      if (u->op == Op::End && is_inside(u, copy)) rename(u->src[1], copy);
    }
    for (const Ref u : order) {
      if (u->op == Op::Range && copy.has(u)) {
        const Ref old = copy.at(u);
        copy.set(u, rebuild(old, copy));
      } else if (u == end || is_inside(u, copy)) {
        copy.set(u, rebuild(u, copy));
      }
    }
    for (const Ref u : order) {
      if (u->op == Op::End && copy.has(u)) end_of_.set(copy.at(u)->src[1], copy.at(u));
    }
    return copy.at(end);
  }

  void rename(Ref range, NodeMap<Ref>& copy) {
    if (copy.has(range)) return;
    const Arg arg = Arg::axis(fresh_++, range->arg.axis_type());
    copy.set(range, g_.make(Op::Range, range->dtype, range->src, arg));
  }

  bool is_inside(Ref u, const NodeMap<Ref>& copy) {
    const std::span<const Ref> in = uop::ranges(g_, u);
    return std::any_of(in.begin(), in.end(), [&](Ref r) { return copy.has(r); });
  }

  Graph& g_;
  NodeMap<Ref> now_;
  NodeMap<Ref> end_of_;
  std::vector<Ref> sources_;
  int32_t fresh_ = 0;  // the least number that no range has
};

Result<Ref> split_ends(uop::Run& run, Ref root) { return Splitter(run.graph()).split(root); }

std::optional<std::string> loop_breach(Graph& g, Ref root) {
  const std::span<const Ref> open = uop::ranges(g, root);
  if (!open.empty()) return fmt::format("range {} has no end", open[0]->arg.number());
  NodeMap<Ref> end_of;
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op != Op::End) continue;
    if (u->src.size() != 2 || u->src[1]->op != Op::Range)
      return "an end closes more than one range";
    if (end_of.has(u->src[1])) {
      return fmt::format("range {} has two ends", u->src[1]->arg.number());
    }
    end_of.set(u->src[1], u);
  }
  return std::nullopt;
}

}  // namespace

const uop::Pass& add_control_flow() {
  static const uop::Pass pass = {.name = "add_control_flow",
                                 .accepts = gated_form(),
                                 .yields = looped_form(),
                                 .rules = {},
                                 .function = split_ends};
  return pass;
}

const uop::Invariant& one_end_a_range() {
  static const uop::Invariant invariant = {"one_end_a_range", loop_breach};
  return invariant;
}

}  // namespace assay::codegen
