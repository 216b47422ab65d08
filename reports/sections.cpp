#include "reports/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/markup.h"

namespace assay::reports {
namespace {

// So many findings are shown open; of more, programs are seen on a click.
constexpr size_t kOpenFindings = 8;
// So many names are.
constexpr size_t kOpenNames = 40;

std::string names(const std::vector<std::string>& all) {
  std::string text = "<ul class=\"names\">\n";
  for (const std::string& name : all) text += fmt::format("<li>{}</li>\n", escaped(name));
  return text + "</ul>\n";
}

std::string blame_of(const FindingRecord& f) {
  std::string blame = f.pass.empty() ? "" : fmt::format("pass <b>{}</b>", escaped(f.pass));
  if (blame.empty() && !f.blamed.empty()) {
    blame = fmt::format("stage <b>{}</b>", escaped(f.blamed));
  }
  if (!f.rule.empty()) {
    blame += fmt::format("{}rule <b>{}</b>", blame.empty() ? "" : ", ", escaped(f.rule));
  }
  return blame;
}

// Of pairs there is but the count.
int64_t seen_of(const CoverageRecord& c) {
  const auto pairs = c.seen.find("pairs");
  const auto names = static_cast<int64_t>(c.seen.size());
  return pairs == c.seen.end() ? names : names - 1 + pairs->second;
}

std::string finding(const FindingRecord& f, size_t number, bool is_open) {
  const std::string blame = blame_of(f);
  std::string text = fmt::format("<div class=\"finding{}\" id=\"finding-{}\"><h3>{}. {}</h3>\n",
                                 f.rate < 1 ? " flaky" : "", number, number, clipped(f.title, 240));
  text +=
      fmt::format("<p>Found by <b>{}</b> at {} on {}{}{}.</p>\n", escaped(f.judge),
                  escaped(f.stage), escaped(f.device), blame.empty() ? "" : "; to blame: ", blame);
  if (f.rate < 1) {
    text += fmt::format("<p class=\"doubt\">Flaky: shows again in {:.0f} % of repeats.</p>\n",
                        f.rate * 100);
  }
  if (!f.evidence.empty() && f.evidence != f.title) {
    text += fmt::format("<p>{}</p>\n", clipped(f.evidence, 600));
  }
  if (!f.on_sim.empty()) {
    text += fmt::format("<p>On the simulated device: {}.</p>\n", escaped(f.on_sim));
  }
  text += fmt::format("<p class=\"note\">case {}{}{}{}</p>\n", f.number,
                      f.statements == 0 ? "" : ", found with ",
                      f.statements == 0 ? "" : counted(f.statements, "statement", "statements"),
                      f.folder.empty() ? "" : ", in " + escaped(f.folder));
  if (!f.command.empty()) {
    text += fmt::format("<p>To see it again: <code>{}</code></p>\n", escaped(f.command));
  }
  if (!f.program.empty()) {
    const auto lines = std::ranges::count(f.program, '\n');
    const std::string program = fmt::format("<pre>{}</pre>\n", escaped(f.program));
    text += is_open ? program : folded("the program, " + counted(lines, "line", "lines"), program);
  }
  return text + "</div>\n";
}

}  // namespace

std::string findings_section(const Summary& s) {
  std::string text = heading("findings", "Findings");
  if (s.findings.empty()) return text + none("None.");
  if (s.findings.size() > 1) {
    Table table({"#", "~what", "found by", "to blame", "on"});
    for (size_t i = 0; i < s.findings.size(); i++) {
      const FindingRecord& f = s.findings[i];
      const std::string_view title = beginning(f.title, 120);
      table.row({fmt::format("<a href=\"#finding-{}\">{}</a>", i + 1, i + 1),
                 escaped(title) + (title.size() < f.title.size() ? "…" : ""), escaped(f.judge),
                 blame_of(f), escaped(f.device)});
    }
    text += table.html();
  }
  for (size_t i = 0; i < s.findings.size(); i++) {
    text += finding(s.findings[i], i + 1, i < kOpenFindings);
  }
  return text;
}

std::string coverage_section(const Summary& s) {
  std::string text = heading("coverage", "Coverage");
  if (s.coverage.empty()) return text + none("Not recorded.");
  Table table({"of", "reached", "#seen", "#never"});
  std::string never;
  for (const CoverageRecord& c : s.coverage) {
    const int64_t seen = seen_of(c);
    const auto missed = static_cast<int64_t>(c.never.size());
    // Where what there is cannot be listed, nothing is known of what was not seen.
    const double full = percent(seen, seen + missed);
    table.row({escaped(c.group), missed == 0 ? "" : share(full), grouped(seen),
               missed == 0 ? "" : grouped(missed)});
    if (missed == 0) continue;
    never += folded(fmt::format("{} never: {}", escaped(c.group), grouped(missed)), names(c.never),
                    c.never.size() <= kOpenNames);
  }
  text += table.html();
  if (!never.empty()) text += "<h3>What never happened, by name</h3>\n" + never;
  return text;
}

std::string targets_section(const Summary& s) {
  std::string text = heading("targets", "Fuzz targets");
  if (s.targets.empty()) return text + none("None were run.");
  Table table({"target", "edges reached", "#edges", "#features", "#executions", "#a second",
               "#inputs", "#new", "#failures", "#time"});
  std::string troubles;
  for (const TargetRecord& t : s.targets) {
    const double full = percent(t.edges, t.all_edges);
    const double rate = t.seconds > 0 ? static_cast<double>(t.executions) / t.seconds : 0;
    table.row({escaped(t.name), share(full), grouped(t.edges), grouped(t.features),
               grouped(t.executions), rate > 0 ? grouped(static_cast<int64_t>(rate)) : "",
               grouped(t.inputs), grouped(t.kept),
               Cell{grouped(t.crashes), t.crashes != 0 ? "bad" : ""}, duration(t.seconds)});
    if (!t.trouble.empty()) {
      troubles += fmt::format("<p class=\"bad\">{}: {}</p>\n", escaped(t.name), clipped(t.trouble));
    }
  }
  text += table.html() + troubles;
  return text +
         "<p class=\"note\">Edges are those of the program's own code that libFuzzer counts, "
         "features those and what compilations did; new are the inputs that the store "
         "gained.</p>\n";
}

namespace {

// What is to be done about the score: faults that survive, are blamed on others, or that one judge
// alone finds.
std::string what_scores_lack(const Summary& s) {
  Table survivors({"survivor", "of", "~why"});
  Table blamed({"found, but blamed wrongly", "of", "blamed"});
  size_t missed = 0;
  size_t wrong = 0;
  for (const ScoreRecord& r : s.scores) {
    if (r.judge.empty()) {
      survivors.row({escaped(r.fault), escaped(r.fault_class), escaped(r.why)});
      missed++;
    } else if (!r.is_blamed_right) {
      blamed.row({escaped(r.fault), escaped(r.fault_class), escaped(r.blame)});
      wrong++;
    }
  }
  std::string text = missed == 0 ? "<p class=\"good\">None survived.</p>\n" : survivors.html();
  if (wrong != 0) text += blamed.html();
  std::vector<std::string> single;
  for (const auto& [fault_class, counts] : s.matrix) {
    if (counts.size() - counts.count("not found") < 2) single.push_back(fault_class);
  }
  if (single.empty()) return text;
  return text + fmt::format("<p class=\"doubt\">Found by fewer than two judges: {}.</p>\n",
                            escaped(fmt::format("{}", fmt::join(single, ", "))));
}

// Who found how many of each class: a row a judge, for there are more of them than of classes, and
// a page is not as wide.
std::string matrix(const Summary& s) {
  std::map<std::string, std::pair<int64_t, int64_t>> found;  // of all, by class
  for (const ScoreRecord& r : s.scores) {
    auto& [n, of_all] = found[r.fault_class];
    n += r.judge.empty() ? 0 : 1;
    of_all++;
  }
  std::vector<std::string> heads = {"found by"};
  std::vector<Cell> totals = {Cell{"anyone"}};
  int64_t most = 1;
  for (const auto& [fault_class, counts] : s.matrix) {
    heads.push_back("#" + escaped(fault_class));
    const auto& [n, of_all] = found[fault_class];
    totals.emplace_back(fmt::format("{} of {}", n, of_all), n == of_all ? "" : "bad");
    for (const auto& [judge, times] : counts) most = std::max(most, times);
  }
  Table table(heads);
  table.row(totals);
  for (const std::string& judge : s.judges) {
    std::vector<Cell> row = {escaped(judge)};
    for (const auto& [fault_class, counts] : s.matrix) {
      const auto at = counts.find(judge);
      row.emplace_back(
          at == counts.end()
              ? ""
              : fmt::format("<span class=\"heat\" style=\"--h:{:.2f}\">{}</span>",
                            static_cast<double>(at->second) / static_cast<double>(most),
                            grouped(at->second)));
    }
    table.row(row);
  }
  return table.html();
}

// Each fault with all who found it.
std::string each_fault(const Summary& s) {
  Table table({"fault", "of", "~found by", "#in", "blamed"});
  for (const ScoreRecord& r : s.scores) {
    const bool is_found = !r.judge.empty();
    table.row({escaped(r.fault), escaped(r.fault_class),
               is_found ? Cell{escaped(fmt::format("{}", fmt::join(r.judges, ", ")))}
                        : Cell{"nobody", "bad"},
               duration(r.seconds), Cell{escaped(r.blame), r.is_blamed_right ? "" : "doubt"}});
  }
  return folded("Each fault, and who found it", table.html());
}

}  // namespace

std::string faults_section(const Summary& s) {
  std::string text = heading("faults", "Seeded faults");
  if (s.scores.empty()) return text + none("Not scored.");
  const auto all = static_cast<int64_t>(s.scores.size());
  text +=
      fmt::format("<p>{} of {} found ({:.1f} %), {} in the median; blamed right {:.1f} %.</p>\n",
                  s.faults_found, all, percent(s.faults_found, all), duration(s.median_seconds),
                  percent(s.blamed_right, s.faults_found));
  return text + matrix(s) + what_scores_lack(s) + each_fault(s);
}

}  // namespace assay::reports
