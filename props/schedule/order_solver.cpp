#include "props/schedule/order_solver.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::props {
namespace {

constexpr size_t kPairsAQuestion = 1024;
constexpr std::string_view kOrderQuestion = "order";

class OrderSolver {
 public:
  OrderSolver(const CallOrder& order, smt::Prover& prover) : order_(order), prover_(prover) {}

  // Pairs that are known to be ordered if none of them can be turned; else each by itself, in the
  // end.
  void decide(std::span<const CallPair> pairs) {
    if (pairs.empty()) return;
    const smt::Decision decision = prover_.decide(question(pairs), kOrderQuestion);
    if (decision.answer != smt::Satisfiable::No && pairs.size() > 1) {
      decide(pairs.first(pairs.size() / 2));
      decide(pairs.subspan(pairs.size() / 2));
      return;
    }
    if (decision.answer == smt::Satisfiable::Unknown) {
      if (solved_.why.empty()) solved_.why = decision.why;
      solved_.unknown.push_back(pairs[0]);
      return;
    }
    if (decision.answer == smt::Satisfiable::Yes) solved_.open.push_back(pairs[0]);
    solved_.by_method[std::string(decision.method)] += static_cast<int64_t>(pairs.size());
  }

  SolvedOrder take() {
    std::sort(solved_.open.begin(), solved_.open.end());
    return std::move(solved_);
  }

 private:
  // Edges go forward in the list, so that none outside of the pairs' calls leads back into them.
  smt::Formula question(std::span<const CallPair> pairs) const {
    int32_t low = order_.calls();
    int32_t high = 0;
    for (const CallPair& p : pairs) {
      low = std::min(low, p.from);
      high = std::max(high, p.to);
    }
    smt::Formula f;
    const auto position = [&](int32_t call) {
      return f.variable(fmt::format("p{}", call - low), smt::kInt);
    };
    const auto before = [&](int32_t first, int32_t second, auto compare) {
      const smt::Term a = position(first);
      const smt::Term b = position(second);
      return compare(a, b);
    };
    const auto edges = order_.edges();
    auto edge = std::lower_bound(edges.begin(), edges.end(), CallPair{low, 0});
    for (; edge != edges.end() && edge->from < high; ++edge) {
      if (edge->to > high) continue;
      f.require(before(edge->from, edge->to, [&](auto a, auto b) { return f.lt(a, b); }));
    }
    std::vector<smt::Term> turned;
    for (const CallPair& p : pairs) {
      turned.push_back(before(p.to, p.from, [&](auto a, auto b) { return f.le(a, b); }));
    }
    f.require(f.make(smt::Fn::Or, turned));
    return f;
  }

  const CallOrder& order_;
  smt::Prover& prover_;
  SolvedOrder solved_;
};

}  // namespace

SolvedOrder solve_order(const CallOrder& order, std::vector<CallPair> pairs, smt::Prover& prover) {
  std::sort(pairs.begin(), pairs.end(), [](const CallPair& a, const CallPair& b) {
    return CallPair{a.to, a.from} < CallPair{b.to, b.from};
  });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  OrderSolver solver(order, prover);
  for (size_t begin = 0; begin < pairs.size(); begin += kPairsAQuestion) {
    solver.decide(std::span(pairs).subspan(begin, std::min(kPairsAQuestion, pairs.size() - begin)));
  }
  return solver.take();
}

}  // namespace assay::props
