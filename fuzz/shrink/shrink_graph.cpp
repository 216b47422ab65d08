#include "fuzz/shrink/shrink_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "engine/codegen/opt.h"
#include "engine/uop/text.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"
#include "fuzz/trial/graph_case.h"

namespace assay::fuzz {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

// What counts first stands first.
std::tuple<size_t, int64_t, int64_t> measure(const Case& c) {
  const Case plain;
  const int64_t settings =
      int{c.device != plain.device} + int{c.profile != plain.profile} + int{c.seed != plain.seed};
  constexpr int64_t kDrawn = 100;  // more than any list that is said
  int64_t opts = 0;
  if (!c.opts.empty() && c.opts != "none") {
    opts = c.opts.starts_with("random") ? kDrawn : 1 + std::ranges::count(c.opts, ' ');
  }
  return {static_cast<size_t>(std::ranges::count(c.graph, '\n')), opts + settings,
          std::ssize(c.graph)};
}

class GraphShrinking {
 public:
  GraphShrinking(Case failing, const std::function<bool(const Case&)>& still_fails,
                 const ShrinkOptions& options)
      : still_fails_(still_fails), options_(options), now_(std::move(failing)) {}

  Shrunk run() {
    bool is_smaller = true;
    while (is_smaller && !is_spent()) {
      is_smaller = drop_graphs();
      is_smaller = settings() || is_smaller;
      is_smaller = opts() || is_smaller;
      is_smaller = nodes() || is_smaller;
    }
    return {now_, trials_, !is_spent()};
  }

 private:
  bool is_spent() const { return trials_ >= options_.trials; }

  bool takes(Case candidate) {
    if (is_spent() || measure(candidate) >= measure(now_)) return false;
    trials_++;
    if (!still_fails_(candidate)) return false;
    now_ = std::move(candidate);
    return true;
  }

  // One of several terms is enough.
  bool drop_graphs() {
    const std::vector<std::string_view> texts = graphs_of(now_);
    if (texts.size() < 2) return false;
    for (const std::string_view text : texts) {
      Case one = now_;
      one.graph = std::string(text);
      if (takes(std::move(one))) return true;
    }
    return false;
  }

  bool settings() {
    const Case plain;
    bool any = false;
    const auto tries = [&](auto member) {
      Case c = now_;
      c.*member = plain.*member;
      any = takes(std::move(c)) || any;
    };
    tries(&Case::device);
    tries(&Case::profile);
    tries(&Case::seed);
    return any;
  }

  bool opts() {
    if (now_.opts.empty()) return false;
    Case c = now_;
    c.opts = "none";
    if (takes(c)) return true;
    if (now_.opts.starts_with("random") && options_.lists) {
      for (std::string& list : options_.lists(now_)) {
        c.opts = std::move(list);
        if (takes(c)) return true;
      }
      return false;
    }
    const Result<std::vector<codegen::Opt>> list = codegen::opts_from_text(now_.opts);
    if (!list.ok()) return false;
    for (size_t i = 0; i < list.value().size(); i++) {
      std::vector<codegen::Opt> fewer = list.value();
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
      c.opts = fewer.empty() ? "none" : codegen::to_text(fewer);
      if (takes(c)) return true;
    }
    return false;
  }

  // Operands and constants in the place of results, the largest parts first.
  bool nodes() {
    bool any = false;
    bool goes_on = true;
    while (goes_on && !is_spent()) {
      goes_on = one_node();
      any = any || goes_on;
    }
    return any;
  }

  bool one_node() {
    Graph g;
    const Result<uop::Parsed> parsed = uop::from_text(g, now_.graph);
    if (!parsed.ok()) return false;
    std::vector<Ref> all = uop::toposort(g, parsed.value().root);
    std::ranges::reverse(all);
    std::set<Ref> places;  // that are stored to, which are no values; only searched
    for (const Ref u : all) {
      if (u->op == Op::Store) places.insert(u->src[0]);
    }
    for (const Ref u : all) {
      if (places.contains(u)) continue;
      for (const Ref other : stand_ins(g, u)) {
        const Ref root = uop::substitute(g, parsed.value().root, {{u, other}});
        if (root == parsed.value().root || uop::verify(g, root)) continue;
        Case c = now_;
        c.graph = uop::to_text(g, root, parsed.value().stage);
        if (takes(std::move(c))) return true;
      }
    }
    return false;
  }

  // What may stand in the place of a value: operands of its type, and small constants.
  static std::vector<Ref> stand_ins(Graph& g, Ref u) {
    std::vector<Ref> result;
    const bool is_value = uop::is_scalar(u->op) || u->op == Op::Index || u->op == Op::Reduce;
    if (!is_value || uop::is_const(u)) return result;
    for (const Ref s : u->src) {
      if (s->dtype == u->dtype) result.push_back(s);
    }
    if (u->dtype == uop::DType::Void) return result;
    result.push_back(g.constant(u->dtype, 0));
    result.push_back(g.constant(u->dtype, 1));
    return result;
  }

  const std::function<bool(const Case&)>& still_fails_;
  const ShrinkOptions& options_;
  Case now_;
  int64_t trials_ = 0;
};

}  // namespace

Shrunk shrink_graph(const Case& failing, const std::function<bool(const Case&)>& still_fails,
                    const ShrinkOptions& options) {
  return GraphShrinking(failing, still_fails, options).run();
}

}  // namespace assay::fuzz
