#include "reports/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/markup.h"
#include "reports/sections.h"
#include "reports/style.h"

namespace assay::reports {
namespace {

std::string fact(std::string_view name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{} <b>{}</b> ", name, escaped(value));
}

// In a word: the name of its tone, and the word.
struct Badge {
  std::string_view tone, word;
};
Badge badge_of(const Summary& s) {
  if (!s.red.empty()) return {"bad", "red"};
  return s.begin && !s.end ? Badge{"doubt", "unfinished"} : Badge{"good", "green"};
}

std::string header(const Summary& s) {
  const Badge badge = badge_of(s);
  std::string text = fmt::format("<header><h1>Assay <span class=\"badge {}\">{}</span></h1>\n",
                                 badge.tone, badge.word);
  if (s.begin) {
    const std::string devices = fmt::format("{}", fmt::join(s.begin->drivers, "; "));
    text += "<p class=\"facts\">" + fact("", s.begin->time) +
            fact("commit", s.begin->commit.substr(0, 12)) +
            fact("seed", std::to_string(s.begin->seed)) + fact("devices", devices) +
            fact("solvers", s.begin->solver) + fact("machine", s.begin->machine) +
            fact("corpus", s.begin->corpus) + "</p>\n";
    if (devices.find("adreno") != std::string::npos) {
      text += "<p class=\"facts\">adreno: profile only, no hardware</p>\n";
    }
  }
  return text +
         "</header>\n<nav><div><a href=\"#summary\">Summary</a><a href=\"#findings\">Findings</a>"
         "<a href=\"#coverage\">Coverage</a><a href=\"#targets\">Fuzz targets</a>"
         "<a href=\"#proofs\">Proofs</a><a href=\"#faults\">Faults</a>"
         "<a href=\"#time\">Time</a></div></nav>\n";
}

std::string verdict(const Summary& s) {
  std::string text;
  if (s.red.empty()) {
    text = s.begin && !s.end ? "" : "<p class=\"good\"><b>Green.</b> Nothing failed.</p>\n";
  } else {
    text = "<p class=\"bad\"><b>Red</b>, because:</p><ul class=\"why bad\">\n";
    for (const std::string& why : s.red) text += fmt::format("<li>{}</li>\n", escaped(why));
    text += "</ul>\n";
  }
  if (s.end && s.end->is_interrupted) {
    text += "<p class=\"doubt\">The campaign was interrupted.</p>\n";
  } else if (s.begin && !s.end) {
    text +=
        "<p class=\"doubt\">The campaign did not come to its end: it was killed, or still "
        "runs.</p>\n";
  }
  return text;
}

// Of what there are records.
std::string tiles(const Summary& s) {
  std::string text;
  const auto causes = static_cast<int64_t>(s.findings.size());
  text += tile(grouped(causes), causes == 1 ? "cause of failures" : "causes of failures",
               causes == 0 ? "good" : "bad");
  if (s.cases != 0) {
    text += tile(grouped(s.cases), fmt::format("cases, {} of them saved", grouped(s.replayed)));
    text += tile(grouped(s.failed), "cases failed", s.failed == 0 ? "good" : "bad");
    text += tile(grouped(s.unknown), "cases with something unknown", s.unknown == 0 ? "" : "doubt");
  }
  if (s.flaky != 0) text += tile(grouped(s.flaky), "cases flaky", "doubt");
  if (s.malformed != 0) text += tile(grouped(s.malformed), "cases malformed", "doubt");
  if (s.kernels != 0) {
    text += tile(grouped(s.kernels), fmt::format("kernels, {:.0f} % with LOCAL and a barrier",
                                                 percent(s.sharing, s.kernels)));
  }
  if (s.obligations != 0) text += tile(grouped(s.obligations), "obligations judged in cases");
  if (s.elements != 0) {
    text += tile(grouped(s.elements),
                 fmt::format("elements compared; {:.2f} % unspecified, {:.2f} % ambiguous",
                             percent(s.unspecified, s.elements), percent(s.ambiguous, s.elements)));
  }
  if (!s.proofs.empty()) {
    text += tile(
        grouped(s.proved),
        fmt::format("claims pass; {} refuted, {} unknown", grouped(s.refuted), grouped(s.unproved)),
        s.refuted != 0    ? "bad"
        : s.unproved != 0 ? "doubt"
                          : "good");
  }
  if (!s.scores.empty()) {
    const auto all = static_cast<int64_t>(s.scores.size());
    text += tile(fmt::format("{:.1f} %", percent(s.faults_found, all)),
                 fmt::format("of {} seeded faults found", grouped(all)),
                 s.faults_found == all ? "good" : "doubt");
  }
  if (!s.targets.empty()) {
    int64_t executions = 0;
    for (const TargetRecord& t : s.targets) executions += t.executions;
    text += tile(grouped(executions), fmt::format("inputs to {} fuzz targets", s.targets.size()));
  }
  if (s.end && s.end->seconds > 0 && s.cases != 0) {
    text += tile(fmt::format("{:.0f}", static_cast<double>(s.end->cases) / s.end->seconds),
                 fmt::format("cases a second, for {}", duration(s.end->seconds)));
  }
  return "<div class=\"tiles\">\n" + text + "</div>\n";
}

std::string unknowns(const Summary& s) {
  if (s.unknown_by_cause.empty()) return "";
  Table table({"unknown because of", "#obligations"});
  for (const auto& [cause, n] : s.unknown_by_cause) table.row({escaped(cause), grouped(n)});
  return "<h3>What is unknown, and why</h3>\n" + table.html();
}

}  // namespace

std::string to_html(const Summary& s) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>Assay: {}</title><style>{}</style></head>\n<body>\n{}<main>\n{}{}{}{}{}{}{}{}{}{}"
      "</main></body></html>\n",
      badge_of(s).word, kStyle, header(s), heading("summary", "Summary"), verdict(s), tiles(s),
      unknowns(s), findings_section(s), coverage_section(s), targets_section(s), proofs_section(s),
      faults_section(s), time_section(s));
}

}  // namespace assay::reports
