#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "engine/uop/pass.h"
#include "engine/uop/text.h"

// Small kernels as one reads them, for tests: each effect on a line, all terms written out.
//
//   p0[(+ r0 1)] = (* *p1[r0] 2)        STORE, INDEX, LOAD; constants as values, ranges r0, r1, …
//   *p1[r0:4]   *p1[r0] ? g : 0         SHRINK to 4; a LOAD with its gate g and alternative 0
//   local0@(…)  reg1@(…)                BUFFERs; AFTER what stands in the brackets
//   {a; b} for r0 r1                    GROUP; END
namespace assay::codegen {

inline std::string short_text(uop::Ref u);

inline std::string short_list(std::span<const uop::Ref> src, std::string_view between) {
  std::string text;
  for (const uop::Ref s : src) {
    if (!text.empty()) text += between;
    text += short_text(s);
  }
  return text;
}

inline std::string short_leaf(uop::Ref u) {
  using uop::Op;
  switch (u->op) {
    case Op::Const: return to_text(u->value());
    case Op::Invalid: return "-";
    case Op::Variable:
    case Op::Special: return std::string(u->arg.name());
    case Op::Range: return fmt::format("r{}", u->arg.number());
    case Op::Param: return fmt::format("p{}", u->arg.number());
    case Op::Buffer: return fmt::format("{}{}", to_text(u->arg.addr_space()), u->arg.number());
    default: return "";
  }
}

inline std::string short_access(uop::Ref u) {
  const bool has_gate = u->src.size() == 3;
  if (u->op == uop::Op::Load) {
    const std::string place = "*" + short_text(u->src[0]);
    if (!has_gate) return place;
    return fmt::format("({} ? {} : {})", place, short_text(u->src[2]), short_text(u->src[1]));
  }
  const std::string what = fmt::format("{} = {}", short_text(u->src[0]), short_text(u->src[1]));
  return has_gate ? fmt::format("{} if {}", what, short_text(u->src[2])) : what;
}

inline std::string short_text(uop::Ref u) {
  using uop::Op;
  const auto rest = u->src.empty() ? u->src : u->src.subspan(1);
  if (const std::string leaf = short_leaf(u); !leaf.empty()) return leaf;
  switch (u->op) {
    case Op::Load:
    case Op::Store: return short_access(u);
    case Op::Index: return fmt::format("{}[{}]", short_text(u->src[0]), short_list(rest, ", "));
    case Op::Shrink: return fmt::format("{}[{}]", short_text(u->src[0]), short_list(rest, ":"));
    case Op::After: return fmt::format("{}@({})", short_text(u->src[0]), short_list(rest, "; "));
    case Op::End: return fmt::format("{} for {}", short_text(u->src[0]), short_list(rest, " "));
    case Op::Group: return fmt::format("{{{}}}", short_list(u->src, "; "));
    case Op::Stack: return fmt::format("[{}]", short_list(u->src, ", "));
    case Op::Sink: return short_list(u->src, "\n");
    case Op::Cast: return fmt::format("({} {})", to_text(u->dtype), short_list(u->src, " "));
    default: break;
  }
  const std::string_view symbol = uop::info(u->op).symbol;
  return fmt::format("({} {})", symbol, short_list(u->src, " "));
}

// A kernel of .uop text after a pass.
inline std::string after_pass(const uop::Pass& pass, std::string_view text,
                              const uop::Target& target = uop::generic_target()) {
  uop::Graph g;
  const Result<uop::Parsed> kernel = uop::from_text(g, text);
  if (!kernel.ok()) return to_string(kernel.error());
  uop::Run run(g, {}, nullptr, target);
  const std::optional<std::string> before = breach(pass.accepts, g, kernel.value().root);
  if (before) return *before;
  const Result<uop::Ref> after = run_pass(pass, run, kernel.value().root);
  if (!after.ok()) return to_string(after.error());
  const std::optional<std::string> broken = breach(pass.yields, g, after.value());
  return broken ? *broken : short_text(after.value());
}

}  // namespace assay::codegen
