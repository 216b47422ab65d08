#include "fuzz/trial/graph_case.h"

#include <fmt/format.h>

#include "engine/uop/text.h"
#include "fuzz/trial/movement_trial.h"
#include "fuzz/trial/term_trial.h"
#include "oracles/passes/random_kernel.h"

namespace assay::fuzz {
namespace {

constexpr uint64_t kTerms = 12;
constexpr uint64_t kSeeds = 1 << 16;

}  // namespace

Case make_terms(oracles::Choices& choices) {
  Case c;
  for (uint64_t i = 0; i < kTerms; i++) {
    uop::Graph g;
    const bool is_movement = choices.chance(1, kTerms);
    const uop::Ref made = is_movement ? make_movement(g, choices) : make_term(g, choices);
    c.graph += uop::to_text(g, made, "term");
  }
  return c;
}

Case make_kernel(oracles::Choices& choices, const CaseOptions& options) {
  Case c;
  uop::Graph g;
  const bool has_functions = choices.chance(1, 4);
  oracles::RandomKernel maker(g, choices.below(uint64_t{1} << 48), has_functions);
  c.graph = uop::to_text(g, maker.make(), "kernel");
  if (choices.chance(7, 8)) c.opts = fmt::format("random:{}", choices.below(kSeeds));
  c.seed = 1 + choices.below(kSeeds);
  if (!options.profiles.empty() && !is_wide(c) && choices.chance(1, 4)) {
    c.profile = choices.pick(std::span<const std::string>(options.profiles));
  }
  return c;
}

bool is_wide(const Case& c) { return c.graph.find(" f64 ") != std::string::npos; }

bool is_terms(const Case& c) {
  return c.graph.starts_with("uop 1 term\n") || c.graph.find("\nuop 1 term\n") != std::string::npos;
}

std::vector<std::string_view> graphs_of(const Case& c) {
  std::vector<std::string_view> texts;
  const std::string_view all = c.graph;
  size_t begin = 0;
  while (begin < all.size()) {
    // A text goes on to where the next one begins, and comments before the first belong to it.
    size_t first = begin;
    if (!all.substr(begin).starts_with("uop ")) first = all.find("\nuop ", begin);
    size_t end = first == std::string_view::npos ? first : all.find("\nuop ", first + 1);
    end = end == std::string_view::npos ? all.size() : end + 1;
    texts.push_back(all.substr(begin, end - begin));
    begin = end;
  }
  return texts;
}

}  // namespace assay::fuzz
