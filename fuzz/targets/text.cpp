#include "engine/uop/text.h"

#include <string>

#include "engine/check.h"
#include "engine/uop/key.h"
#include "engine/uop/verify.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz {

// Any bytes give a well-formed graph, which prints and reads back as itself, or an error with a
// place.
void one_case(std::string_view text) {
  uop::Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, text);
  if (!parsed.ok()) {
    const Error& error = parsed.error();
    ASSAY_CHECK(error.line > 0, "{}", error.message);
    ASSAY_CHECK(error.column > 0, "{}", error.message);
    ASSAY_CHECK(!error.message.empty());
    return;
  }
  const auto& [root, stage] = parsed.value();
  const auto trouble = uop::verify(g, root);
  ASSAY_CHECK(!trouble, "{}", *trouble);

  const std::string printed = uop::to_text(g, root, stage);
  uop::Graph other;
  const Result<uop::Parsed> again = uop::from_text(other, printed);
  ASSAY_CHECK(again.ok(), "{}\n{}", to_string(again.error()), printed);
  const std::string twice = uop::to_text(other, again.value().root, again.value().stage);
  ASSAY_CHECK(twice == printed, "printed\n{}and then\n{}", printed, twice);
  ASSAY_CHECK(uop::key(other, again.value().root) == uop::key(g, root), "{}", printed);
}

}  // namespace assay::fuzz
