#include "props/kernel/epochs.h"

#include <algorithm>

namespace assay::props::kernel {
namespace {

// The loops with barriers around a scope, from the outermost.
std::vector<int> barrier_loops(const KernelModel& m, int scope) {
  std::vector<int> loops;
  for (const int s : m.scopes_around(scope)) {
    const Scope& here = m.scopes[static_cast<size_t>(s)];
    if (here.is_loop() && here.has_barrier) loops.push_back(s);
  }
  return loops;
}

class Path {
 public:
  Path(Question& question, KernelModel& model) : q_(question), m_(model) {}

  // From the line to `end`, which stands in the loop at `depth` of these (0: in none), at the last
  // iteration of those further in.
  bool leave(int side, int line, const std::vector<int>& loops, size_t depth, int end) {
    int at = line;
    for (size_t i = loops.size(); i > depth; i--) {
      const Scope& loop = scope(loops[i - 1]);
      if (!pass(side, loops[i - 1], at, loop.end)) return false;
      if (loop.is_ordered) {
        const Form count = m_.terms.form(loop.node->src[0]);
        q_.require(side, equal_to(sum(count, m_.terms.form(loop.node), -1), 1));
      }
      at = loop.end;
    }
    return pass(side, level(loops, depth), at, end);
  }
  // From where the loops further in than `depth` begin to the line, at their first iteration.
  bool enter(int side, int line, const std::vector<int>& loops, size_t depth) {
    for (size_t i = depth; i < loops.size(); i++) {
      const Scope& loop = scope(loops[i]);
      if (loop.is_ordered) q_.require(side, equal_to(m_.terms.form(loop.node), 0));
      const int to = i + 1 < loops.size() ? scope(loops[i + 1]).begin : line;
      if (!pass(side, loops[i], loop.begin, to)) return false;
    }
    return true;
  }
  // Between two lines of the same iteration of a loop: all barriers there are passed by.
  bool pass(int side, int loop, int from, int to) {
    for (const BarrierSite& b : m_.barriers) {
      if (b.line <= from || b.line >= to || m_.barrier_loop(b.scope) != loop) continue;
      if (!skip(side, b.scope, loop, {})) return false;
    }
    for (size_t i = 1; i < m_.scopes.size(); i++) {
      const Scope& s = m_.scopes[i];
      const bool is_between = s.is_loop() && s.is_ordered && s.begin > from && s.end < to &&
                              m_.barrier_loop(s.parent) == loop;
      if (!is_between) continue;
      const Within never = at_most(m_.terms.form(s.node->src[0]), 0);
      const bool may_be_none = m_.terms.range_of(never.form).lo <= 0;
      if (!skip(side, s.parent, loop, may_be_none ? Cases{{never}} : Cases{})) return false;
    }
    return true;
  }

  const Scope& scope(int s) const { return m_.scopes[static_cast<size_t>(s)]; }
  static int level(const std::vector<int>& loops, size_t depth) {
    return depth == 0 ? 0 : loops[depth - 1];
  }

 private:
  // What stands in this scope is not reached from the loop: for one of the cases, or since a branch
  // between is not taken. Loops without barriers around a barrier there are none.
  bool skip(int side, int from, int loop, Cases cases) {
    for (int s = from; s != loop; s = scope(s).parent) {
      if (!scope(s).is_branch()) continue;
      const Cases& no = m_.terms.condition(scope(s).node->src[0], false);
      cases.insert(cases.end(), no.begin(), no.end());
    }
    if (cases.empty()) return false;
    q_.require(side, cases);
    return true;
  }

  Question& q_;
  KernelModel& m_;
};

size_t common_depth(const std::vector<int>& a, const std::vector<int>& b) {
  const auto ends = std::ranges::mismatch(a, b);
  return static_cast<size_t>(ends.in1 - a.begin());
}

}  // namespace

std::vector<Meeting> meetings(const KernelModel& m, const Spot& a, const Spot& b) {
  const size_t common = common_depth(barrier_loops(m, a.scope), barrier_loops(m, b.scope));
  std::vector<Meeting> all = {{a.line <= b.line ? 0 : 1, -1}};
  for (size_t j = 0; j < common; j++) {
    all.push_back({0, static_cast<int>(j)});
    all.push_back({1, static_cast<int>(j)});
  }
  return all;
}

bool require_meeting(Question& q, KernelModel& m, const Spot& a, const Spot& b,
                     const Meeting& meeting) {
  Path path(q, m);
  const Spot spots[] = {a, b};
  const std::vector<int> loops[] = {barrier_loops(m, a.scope), barrier_loops(m, b.scope)};
  const size_t common = common_depth(loops[0], loops[1]);
  const auto first = static_cast<size_t>(meeting.first);
  const size_t second = 1 - first;
  const auto side = [](size_t s) { return static_cast<int>(s); };
  const auto counter = [&](size_t j) { return m.terms.form(path.scope(loops[0][j]).node); };
  const bool is_same_turn = meeting.turn < 0;
  const size_t equal = is_same_turn ? common : static_cast<size_t>(meeting.turn);
  for (size_t j = 0; j < equal; j++) q.require_difference(counter(j), counter(j), 0, 0);
  if (is_same_turn) {
    const bool is_inner = loops[second].size() > common;
    const int end = is_inner ? path.scope(loops[second][common]).begin : spots[second].line;
    return path.leave(side(first), spots[first].line, loops[first], common, end) &&
           path.enter(side(second), spots[second].line, loops[second], common);
  }
  // One iteration on, or, where an iteration need not pass a barrier, any number.
  const Scope& loop = path.scope(loops[0][equal]);
  const Int128 most = loop.is_ordered ? 1 : kInfinity;
  const Form c = counter(equal);
  if (first == 0) {
    q.require_difference(c, c, -most, -1);
  } else {
    q.require_difference(c, c, 1, most);
  }
  const size_t depth = equal + 1;
  const bool is_inner = loops[second].size() > depth;
  const int start = is_inner ? path.scope(loops[second][depth]).begin : spots[second].line;
  return path.leave(side(first), spots[first].line, loops[first], depth, loop.end) &&
         path.pass(side(second), loops[0][equal], loop.begin, start) &&
         path.enter(side(second), spots[second].line, loops[second], depth);
}

}  // namespace assay::props::kernel
