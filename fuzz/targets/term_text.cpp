#include "fuzz/targets/term_text.h"

#include <fmt/format.h>

#include <string>

#include "engine/uop/prefix.h"
#include "engine/uop/text.h"
#include "fuzz/mutate/mutate_term.h"

namespace assay::fuzz {
namespace {

constexpr size_t kMostLetters = 8192;

// Variables alone: that is what firings are judged over.
uop::Leaves term_leaves(uop::Graph& g) {
  uop::Leaves leaves;
  for (int i = 0; i < 4; i++) {
    const std::string name = fmt::format("r{}", i);
    leaves[name] = g.variable(name, uop::of_int(uop::Index, 0), uop::of_int(uop::Index, 7));
  }
  leaves["n"] = g.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 64));
  leaves["b"] = g.variable("b", uop::Bool);
  leaves["x"] = g.variable("x", uop::F32);
  leaves["i"] = g.variable("i", uop::I32);
  leaves["u"] = g.variable("u", uop::U8);
  return leaves;
}

uop::Ref parsed_term(uop::Graph& g, std::string_view text) {
  const Result<uop::Parsed> graph = uop::from_text(g, text);
  if (graph.ok()) return graph.value().root;
  const Result<uop::Ref> term = uop::from_prefix(g, text, term_leaves(g));
  return term.ok() ? term.value() : nullptr;
}

}  // namespace

uop::Ref term_to_try(uop::Graph& g, std::string_view text) {
  if (text.size() > kMostLetters) return nullptr;
  const uop::Ref term = parsed_term(g, text);
  return term != nullptr && is_term_to_try(g, term) ? term : nullptr;
}

}  // namespace assay::fuzz
