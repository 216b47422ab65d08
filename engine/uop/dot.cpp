#include "engine/uop/dot.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "engine/uop/node_map.h"
#include "engine/uop/scan.h"
#include "engine/uop/text.h"
#include "engine/uop/value.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

std::string label(Ref u) {
  std::string text = fmt::format("{} {}", info(u->op).text, to_text(u->dtype));
  if (is_const(u)) text = fmt::format("{} {}", to_text(u->dtype), to_text(u->value()));
  append_arg(text, u);
  return text;
}

void append_node(std::string& out, std::string_view name, Ref u) {
  fmt::format_to(std::back_inserter(out), "  {} [label=", name);
  append_quoted(out, label(u));
  out += is_const(u) ? ", shape=plaintext];\n" : "];\n";
}

}  // namespace

std::string to_dot(Graph& g, Ref root) {
  std::string out = "digraph uop {\n  rankdir=TB;\n  node [shape=box, fontname=monospace];\n";
  NodeMap<size_t> numbers;
  size_t next = 0;
  const auto end = std::back_inserter(out);
  for (const Ref u : toposort(g, root)) {
    numbers.set(u, next++);
    if (is_const(u) && u != root) continue;
    const std::string name = fmt::format("n{}", numbers.at(u));
    append_node(out, name, u);
    for (size_t i = 0; i < u->src.size(); ++i) {
      const Ref s = u->src[i];
      std::string from = fmt::format("n{}", numbers.at(s));
      if (is_const(s)) {
        from += fmt::format("_{}_{}", numbers.at(u), i);
        append_node(out, from, s);
      }
      fmt::format_to(end, "  {} -> {};\n", from, name);
    }
  }
  return out + "}\n";
}

}  // namespace assay::uop
