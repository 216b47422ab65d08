#include "engine/uop/prefix.h"

#include <fmt/format.h>

#include <string>

#include "engine/check.h"
#include "engine/uop/verify.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz {
namespace {

uop::Leaves some_leaves(uop::Graph& g) {
  uop::Leaves leaves;
  for (int i = 0; i < 4; i++) {
    const uop::Ref size = g.constant(uop::Index, 8);
    const uop::Arg axis = uop::Arg::axis(i, uop::AxisType::Loop);
    leaves[fmt::format("r{}", i)] = g.make(uop::Op::Range, uop::Index, {size}, axis);
  }
  leaves["n"] = g.variable("n", uop::Index);
  leaves["b"] = g.variable("b", uop::Bool);
  leaves["x"] = g.variable("x", uop::F32);
  leaves["u"] = g.variable("u", uop::U64);
  return leaves;
}

}  // namespace

// Any bytes give a well-formed term, which prints and reads back as the same node, or an error with
// a place.
void one_case(std::string_view text) {
  uop::Graph g;
  const uop::Leaves leaves = some_leaves(g);
  const Result<uop::Ref> parsed = uop::from_prefix(g, text, leaves);
  if (!parsed.ok()) {
    const Error& error = parsed.error();
    ASSAY_CHECK(error.line > 0, "{}", error.message);
    ASSAY_CHECK(error.column > 0, "{}", error.message);
    ASSAY_CHECK(!error.message.empty());
    return;
  }
  const auto trouble = uop::verify(g, parsed.value());
  ASSAY_CHECK(!trouble, "{}", *trouble);

  // A text that can be fed here is far below the limit of what is printed.
  const Result<std::string> printed = uop::to_prefix(g, parsed.value());
  ASSAY_CHECK(printed.ok(), "{}", to_string(printed.error()));
  const Result<uop::Ref> again = uop::from_prefix(g, printed.value(), leaves);
  ASSAY_CHECK(again.ok(), "{}: {}", to_string(again.error()), printed.value());
  ASSAY_CHECK(again.value() == parsed.value(), "{}", printed.value());
}

}  // namespace assay::fuzz
