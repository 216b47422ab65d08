#include "fuzz/outcome_text.h"

#include <nlohmann/json.hpp>

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Finding& f) {
  Json files = Json::array();
  for (const props::Evidence& e : f.files) files.push_back({{"name", e.suffix}, {"text", e.text}});
  return {{"judge", f.judge},
          {"stage", f.stage},
          {"shape", f.shape},
          {"evidence", f.evidence},
          {"files", files}};
}

Finding finding_of(const Json& j) {
  Finding f = {j.at("judge"), j.at("stage"), j.at("shape"), j.at("evidence")};
  for (const Json& file : j.at("files")) f.files.push_back({file.at("name"), file.at("text")});
  return f;
}

// Evidence may quote bytes that are no text.
std::string line_of(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename T, typename Read>
Result<T> read(std::string_view line, Read from) {
  try {
    return from(Json::parse(line));
  } catch (const Json::exception& e) {
    return Error{e.what()};
  }
}

}  // namespace

std::string to_text(const Outcome& o) {
  Json findings = Json::array();
  for (const Finding& f : o.findings) findings.push_back(json_of(f));
  Json unknown = Json::object();
  for (const auto& [cause, n] : o.unknown) unknown[cause] = n;
  return line_of({{"findings", findings},
                  {"unknown", unknown},
                  {"malformed", o.malformed},
                  {"kernels", o.kernels},
                  {"sharing", o.sharing},
                  {"obligations", o.obligations},
                  {"elements", o.elements},
                  {"unspecified", o.unspecified},
                  {"ambiguous", o.ambiguous}});
}

Result<Outcome> outcome_from_text(std::string_view line) {
  return read<Outcome>(line, [](const Json& j) {
    Outcome o;
    for (const Json& f : j.at("findings")) o.findings.push_back(finding_of(f));
    for (const auto& [cause, n] : j.at("unknown").items()) o.unknown[cause] = n;
    o.malformed = j.at("malformed");
    o.kernels = j.at("kernels");
    o.sharing = j.at("sharing");
    o.obligations = j.at("obligations");
    o.elements = j.at("elements");
    o.unspecified = j.at("unspecified");
    o.ambiguous = j.at("ambiguous");
    return o;
  });
}

std::string to_text(const Finding& finding) { return line_of(json_of(finding)); }

Result<Finding> finding_from_text(std::string_view line) { return read<Finding>(line, finding_of); }

}  // namespace assay::fuzz
