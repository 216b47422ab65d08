#include "fuzz/trial/outcome_text.h"

#include "fuzz/trial/json_line.h"

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

Json json_of(const Blame& b) {
  return {{"stage", b.stage},   {"pass", b.pass},   {"rule", b.rule},        {"firing", b.firing},
          {"kernel", b.kernel}, {"title", b.title}, {"evidence", b.evidence}};
}

Blame blame_from(const Json& j) {
  return {j.at("stage"),  j.at("pass"),  j.at("rule"),    j.at("firing"),
          j.at("kernel"), j.at("title"), j.at("evidence")};
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
  Json spent = Json::object();
  for (const auto& [part, ns] : o.spent) spent[part] = ns;
  return json_line({{"findings", findings},
                    {"unknown", unknown},
                    {"features", o.features},
                    {"spent", spent},
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
    for (const Json& f : j.value("features", Json::array())) o.features.push_back(f);
    const Json spent = j.value("spent", Json::object());
    for (const auto& [part, ns] : spent.items()) o.spent[part] = ns;
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

std::string to_text(const Finding& finding) { return json_line(json_of(finding)); }

Result<Finding> finding_from_text(std::string_view line) { return read<Finding>(line, finding_of); }

std::string to_text(const Blame& blame) { return json_line(json_of(blame)); }

Result<Blame> blame_from_text(std::string_view line) { return read<Blame>(line, blame_from); }

std::string to_text(const Investigated& found) {
  Json j = {{"smallest", to_text(found.smallest)}, {"finding", json_of(found.finding)}};
  j.update(json_of(found.blame));
  j["trials"] = found.trials;
  j["done"] = found.is_done;
  return json_line(j);
}

Result<Investigated> investigated_from_text(std::string_view line) {
  std::string smallest;
  ASSAY_TRY(found, (read<Investigated>(line, [&](const Json& j) {
              smallest = j.at("smallest");
              Investigated i;
              i.finding = finding_of(j.at("finding"));
              i.blame = blame_from(j);
              i.trials = j.at("trials");
              i.is_done = j.at("done");
              return i;
            })));
  ASSAY_TRY(c, case_from_text(smallest));
  found.smallest = std::move(c);
  return found;
}

}  // namespace assay::fuzz
