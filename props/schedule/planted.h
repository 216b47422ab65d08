#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/schedule/order.h"
#include "engine/schedule/sample_graph.h"
#include "engine/schedule/seen.h"
#include "props/schedule/call_order.h"
#include "props/schedule/schedule_props.h"

// Schedules with mistakes, for tests.
namespace assay::props {

using schedule::SampleGraph;
using uop::Graph;
using uop::Ref;

// The LINEAR with these edges, or over these calls.
inline Ref with_edges(Graph& g, Ref linear, std::span<const CallEdge> edges) {
  std::vector<int64_t> numbers;
  for (const CallEdge& e : edges) numbers.insert(numbers.end(), {e.from, e.to, e.kind});
  return g.make(uop::Op::Linear, uop::Void, linear->src, g.info("", numbers));
}

// Every edge that no path of others stands in for, left out, one at a time.
inline std::vector<std::pair<CallEdge, Ref>> each_edge_dropped(Graph& g, Ref linear) {
  const std::vector<CallEdge> edges = read_edges(linear).value();
  const CallOrder order(static_cast<int32_t>(linear->src.size()), edges);
  const std::vector<CallOrder::Path> paths = order.paths(order.edges());
  std::vector<std::pair<CallEdge, Ref>> all;
  for (size_t i = 0; i < paths.size(); i++) {
    if (paths[i].is_longer) continue;
    std::vector<CallEdge> kept;
    CallEdge dropped;
    for (const CallEdge& e : edges) {
      const bool is_it = CallPair{e.from, e.to} == order.edges()[i];
      if (is_it) dropped = e;
      if (!is_it) kept.push_back(e);
    }
    all.emplace_back(dropped, with_edges(g, linear, kept));
  }
  return all;
}

class Props : public testing::Test, public SampleGraph {
 protected:
  // A kernel over 4 elements from `first` on of its first state: `factor` times what was there (0
  // writes it anew), and one more than the sum of the others.
  Ref kernel_of(std::string_view name, int64_t reads, int64_t factor, int64_t size = 4,
                int64_t first = 0) {
    const Ref r = range(0, 4);
    const Ref begin = uop::dim(g, first);
    const Ref place = first == 0 ? r : g.alu(uop::Op::Add, {r, begin});
    const Ref base = flat(0, size);
    const Ref target = index(base, place);
    Ref value = g.constant(uop::of_int(uop::F32, 1));
    for (int64_t k = 1; k <= reads; k++) {
      const Ref from = flat(k, 4);
      const Ref read = index(from, r);
      value = g.alu(uop::Op::Add, {value, read});
    }
    if (factor != 0) {
      const Ref by = g.constant(uop::of_int(uop::F32, factor));
      const Ref scaled = g.alu(uop::Op::Mul, {target, by});
      value = g.alu(uop::Op::Add, {scaled, value});
    }
    return kernel(name, target, value, {r});
  }
  Ref fills(std::string_view name, std::initializer_list<Ref> states) {
    return call(kernel_of(name, static_cast<int64_t>(states.size()) - 1, 0), states);
  }
  Ref scales(std::string_view name, std::initializer_list<Ref> states, int64_t factor = 3) {
    return call(kernel_of(name, static_cast<int64_t>(states.size()) - 1, factor), states);
  }

  Checked judge_order(Ref kernels, Ref linear, std::string_view error = "") {
    Context context{prover, uop::generic_target()};
    return schedule_order({g, kernels, linear, error}, context);
  }

  smt::Prover prover;
};

}  // namespace assay::props
