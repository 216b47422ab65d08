#include "reports/html.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::reports {
namespace {

constexpr std::string_view kStyle = R"(
:root { --ink: #1c2430; --soft: #66707f; --line: #dfe4ea; --back: #f6f7f9; --good: #1a7f4b;
        --bad: #c0392b; --doubt: #b7791f; --bar: #3b6ea8; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--back);
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
header { background: #fff; border-bottom: 1px solid var(--line); padding: 20px 32px; }
header h1 { margin: 0 0 4px; font-size: 22px; }
header p { margin: 0; color: var(--soft); }
nav a { margin-right: 16px; color: var(--bar); text-decoration: none; }
main { max-width: 1180px; margin: 0 auto; padding: 24px 32px 64px; }
h2 { margin: 36px 0 12px; font-size: 18px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(170px, 1fr)); gap: 12px; }
.tile { background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
.tile b { display: block; font-size: 24px; font-weight: 600; }
.tile span { color: var(--soft); font-size: 13px; }
.good { color: var(--good); } .bad { color: var(--bad); } .doubt { color: var(--doubt); }
table { width: 100%; border-collapse: collapse; background: #fff; border: 1px solid var(--line); }
th, td { text-align: left; padding: 6px 12px; border-bottom: 1px solid var(--line);
         vertical-align: top; }
th { font-size: 13px; color: var(--soft); font-weight: 600; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.finding { background: #fff; border: 1px solid var(--line); border-left: 4px solid var(--bad);
           border-radius: 6px; padding: 12px 16px; margin-bottom: 12px; }
.finding h3 { margin: 0 0 6px; font-size: 15px; }
pre { margin: 8px 0 0; padding: 10px 12px; background: #f2f4f7; border-radius: 6px;
      overflow-x: auto; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
.bar { display: inline-block; width: 160px; height: 8px; background: var(--line);
       border-radius: 4px; overflow: hidden; vertical-align: middle; margin-right: 8px; }
.bar i { display: block; height: 100%; background: var(--bar); }
details summary { cursor: pointer; color: var(--bar); }
.none { color: var(--soft); }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// 1234567 as "1 234 567".
std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), "\u202f");
  }
  return digits;
}

std::string tile(std::string_view number, std::string_view what, std::string_view tone = "") {
  return fmt::format("<div class=\"tile\"><b class=\"{}\">{}</b><span>{}</span></div>\n", tone,
                     number, what);
}

std::string bar(double percent_full) {
  return fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%\"></i></span>",
                     std::clamp(percent_full, 0.0, 100.0));
}

std::string header(const Summary& s) {
  std::string text = "<header><h1>Assay</h1>\n";
  if (s.begin) {
    std::string devices = fmt::format("{}", fmt::join(s.begin->drivers, "; "));
    text += fmt::format("<p>commit {} &middot; {} &middot; {} &middot; seed {} &middot; {}</p>\n",
                        escaped(s.begin->commit), escaped(devices), escaped(s.begin->solver),
                        s.begin->seed, escaped(s.begin->time));
    if (devices.find("adreno") != std::string::npos) {
      text += "<p>adreno: profile only, no hardware</p>\n";
    }
  }
  return text +
         "<nav><a href=\"#summary\">Summary</a><a href=\"#findings\">Findings</a>"
         "<a href=\"#coverage\">Coverage</a><a href=\"#proofs\">Proofs</a>"
         "<a href=\"#faults\">Faults</a></nav></header>\n";
}

std::string counts_table(std::string_view head, const Counts& counts) {
  std::string text = fmt::format("<table><tr><th>{}</th><th class=\"n\">count</th></tr>\n", head);
  for (const auto& [name, n] : counts) {
    text += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", escaped(name), grouped(n));
  }
  return text + "</table>\n";
}

std::string summary(const Summary& s) {
  std::string text = "<h2 id=\"summary\">Summary</h2>\n";
  if (s.red.empty()) {
    text += "<p class=\"good\"><b>Green.</b> Nothing failed.</p>\n";
  } else {
    text += fmt::format("<p class=\"bad\"><b>Red:</b> {}.</p>\n",
                        escaped(fmt::format("{}", fmt::join(s.red, "; "))));
  }
  if (!s.end) text += "<p class=\"doubt\">The campaign did not come to its end.</p>\n";
  const auto causes = static_cast<int64_t>(s.findings.size());
  text += "<div class=\"tiles\">\n";
  text += tile(grouped(s.cases), fmt::format("cases, {} of them saved", grouped(s.replayed)));
  text += tile(grouped(causes), fmt::format("causes in {} failures", grouped(s.failed)),
               causes == 0 ? "good" : "bad");
  text += tile(grouped(s.unknown), "cases with something unknown", s.unknown == 0 ? "" : "doubt");
  text += tile(grouped(s.kernels), fmt::format("kernels, {:.0f} % with LOCAL and a barrier",
                                               percent(s.sharing, s.kernels)));
  text += tile(grouped(s.obligations), "obligations judged");
  text += tile(grouped(s.elements),
               fmt::format("elements compared; {:.2f} % unspecified, {:.2f} % ambiguous",
                           percent(s.unspecified, s.elements), percent(s.ambiguous, s.elements)));
  if (s.end) text += tile(fmt::format("{:.0f} s", s.end->seconds), "of the wall's clock");
  if (s.end && s.end->seconds > 0) {
    text += tile(fmt::format("{:.0f}", static_cast<double>(s.cases) / s.end->seconds),
                 "cases a second");
  }
  text += "</div>\n";
  text += "<h2>By device</h2>\n" + counts_table("device", s.by_device);
  if (!s.unknown_by_cause.empty()) {
    text += "<h2>What is unknown, and why</h2>\n" + counts_table("cause", s.unknown_by_cause);
  }
  return text;
}

std::string finding(const FindingRecord& f) {
  std::string blame = fmt::format("found by <b>{}</b> at {}", escaped(f.judge), escaped(f.stage));
  if (!f.pass.empty()) blame += fmt::format("; to blame: pass <b>{}</b>", escaped(f.pass));
  if (!f.rule.empty()) blame += fmt::format(", rule <b>{}</b>", escaped(f.rule));
  if (f.rate < 1)
    blame += fmt::format("; <span class=\"doubt\">flaky: {:.0f} %</span>", f.rate * 100);
  return fmt::format(
      "<div class=\"finding\"><h3>{}</h3>\n<p>{} on {}; case {}, folder {}</p>\n"
      "<p>{}</p>\n<pre>{}</pre></div>\n",
      escaped(f.title), blame, escaped(f.device), f.number, escaped(f.folder), escaped(f.evidence),
      escaped(f.program));
}

std::string findings(const Summary& s) {
  std::string text = "<h2 id=\"findings\">Findings</h2>\n";
  if (s.findings.empty()) return text + "<p class=\"none\">None.</p>\n";
  for (const FindingRecord& f : s.findings) text += finding(f);
  return text;
}

std::string coverage(const Summary& s) {
  std::string text = "<h2 id=\"coverage\">Coverage</h2>\n";
  if (s.coverage.empty()) return text + "<p class=\"none\">Not recorded.</p>\n";
  text += "<table><tr><th>of</th><th></th><th class=\"n\">seen</th><th>never</th></tr>\n";
  for (const CoverageRecord& c : s.coverage) {
    const auto seen = static_cast<int64_t>(c.seen.size());
    const auto all = seen + static_cast<int64_t>(c.never.size());
    const std::string never =
        c.never.empty() ? ""
                        : fmt::format("<details><summary>{}</summary>{}</details>", c.never.size(),
                                      escaped(fmt::format("{}", fmt::join(c.never, ", "))));
    text += fmt::format(
        "<tr><td>{}</td><td>{}{:.0f} %</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        escaped(c.group), bar(percent(seen, all)), percent(seen, all), grouped(seen), never);
  }
  return text + "</table>\n";
}

std::string proofs(const Summary& s) {
  std::string text = "<h2 id=\"proofs\">Proof ledger</h2>\n";
  if (s.proofs.empty()) return text + "<p class=\"none\">Nothing was put to proof.</p>\n";
  text += fmt::format("<p>{} passed, {} refuted, {} unknown</p>\n", grouped(s.proved),
                      grouped(s.refuted), grouped(s.unproved));
  text +=
      "<table><tr><th>what</th><th>verdict</th><th>strength</th><th class=\"n\">obligations"
      "</th><th>decided by</th><th>evidence</th></tr>\n";
  for (const ProofRecord& p : s.proofs) {
    const std::string_view tone = p.answer == "pass"   ? "good"
                                  : p.answer == "fail" ? "bad"
                                                       : "doubt";
    std::string methods;
    for (const auto& [method, n] : p.methods) methods += fmt::format("{} {} ", method, n);
    text += fmt::format(
        "<tr><td>{}</td><td class=\"{}\">{}</td><td>{}</td><td class=\"n\">{}</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        escaped(p.name), tone, escaped(p.answer), escaped(p.strength), grouped(p.obligations),
        escaped(methods), escaped(p.evidence));
  }
  return text + "</table>\n";
}

std::string faults(const Summary& s) {
  std::string text = "<h2 id=\"faults\">Seeded faults</h2>\n";
  if (s.scores.empty()) return text + "<p class=\"none\">Not scored.</p>\n";
  const auto all = static_cast<int64_t>(s.scores.size());
  text += fmt::format(
      "<p>{} of {} found ({:.1f} %), {:.2f} s in the median, blamed right {:.1f} %</p>\n",
      s.faults_found, all, percent(s.faults_found, all), s.median_seconds,
      percent(s.blamed_right, s.faults_found));
  text += "<table><tr><th>class</th>";
  for (const std::string& judge : s.judges)
    text += fmt::format("<th class=\"n\">{}</th>", escaped(judge));
  text += "<th class=\"n\">not found</th></tr>\n";
  const auto of = [](const Counts& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? int64_t{0} : found->second;
  };
  for (const auto& [fault_class, counts] : s.matrix) {
    text += fmt::format("<tr><td>{}</td>", escaped(fault_class));
    for (const std::string& judge : s.judges) {
      const int64_t n = of(counts, judge);
      text += fmt::format("<td class=\"n\">{}</td>", n == 0 ? "" : grouped(n));
    }
    const int64_t missed = of(counts, "not found");
    text += fmt::format("<td class=\"n bad\">{}</td></tr>\n", missed == 0 ? "" : grouped(missed));
  }
  return text + "</table>\n";
}

}  // namespace

std::string to_html(const Summary& s) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>Assay</title>"
      "<style>{}</style></head>\n<body>\n{}<main>\n{}{}{}{}{}</main></body></html>\n",
      kStyle, header(s), summary(s), findings(s), coverage(s), proofs(s), faults(s));
}

}  // namespace assay::reports
