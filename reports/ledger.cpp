#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "reports/markup.h"
#include "reports/sections.h"

namespace assay::reports {
namespace {

std::string counts_text(const Counts& counts) {
  std::string text;
  for (const auto& [name, n] : counts) {
    text += fmt::format("{}{}&nbsp;{}", text.empty() ? "" : ", ", escaped(name), grouped(n));
  }
  return text;
}

Cell toned(const std::string& answer) {
  return {escaped(answer), answer == "pass" ? "good" : answer == "fail" ? "bad" : "doubt"};
}

// What of the ledger is of one kind: rules, properties, terminations.
struct Part {
  int64_t passed = 0, refuted = 0, unknown = 0, listed = 0;
  int64_t obligations = 0;
  Counts strengths;  // of what passed
  Counts methods;
  std::vector<const ProofRecord*> all;

  void add(const ProofRecord& p) {
    passed += p.answer == "pass" ? 1 : 0;
    refuted += p.answer == "fail" ? 1 : 0;
    unknown += p.answer == "unknown" ? 1 : 0;
    listed += p.answer == "listed" ? 1 : 0;
    obligations += p.obligations;
    if (p.answer == "pass") strengths[p.strength]++;
    for (const auto& [method, n] : p.methods) methods[method] += n;
    all.push_back(&p);
  }
};

std::string rows_of(const std::vector<const ProofRecord*>& proofs) {
  Table table({"what", "verdict", "strength", "#obligations", "~decided by", "~evidence"});
  for (const ProofRecord* p : proofs) {
    std::string decided = counts_text(p->methods);
    if (!p->causes.empty()) decided += "; unknown: " + counts_text(p->causes);
    table.row({escaped(p->name), toned(p->answer), p->answer == "pass" ? escaped(p->strength) : "",
               grouped(p->obligations), decided, clipped(p->evidence, 200)});
  }
  return table.html();
}

// Rules are many: those that pass are shown on a click, set by set.
std::string rules_of(const Part& part) {
  std::map<std::string, std::vector<const ProofRecord*>> sets;
  std::vector<const ProofRecord*> open;
  for (const ProofRecord* p : part.all) {
    if (p->answer == "fail" || p->answer == "unknown") {
      open.push_back(p);
    } else {
      sets[p->name.substr(0, p->name.find('.'))].push_back(p);
    }
  }
  std::string text = open.empty() ? "" : rows_of(open);
  for (const auto& [set, proofs] : sets) {
    text += folded(fmt::format("{}: {} pass", escaped(set), proofs.size()), rows_of(proofs));
  }
  return text;
}

std::string title_of(const std::string& kind) {
  if (kind == "rule") return "Rules, each at every type it is about";
  if (kind == "termination") return "Rules that are applied together come to an end";
  if (kind == "property") return "Properties, over all programs and kernels that were verified";
  return kind;
}

}  // namespace

std::string proofs_section(const Summary& s) {
  std::string text = heading("proofs", "Proof ledger");
  if (s.proofs.empty()) return text + none("Nothing was put to proof.");
  std::map<std::string, Part> parts;
  for (const ProofRecord& p : s.proofs) parts[p.kind].add(p);
  Table table({"~claims", "#pass", "#refuted", "#unknown", "how strong", "#obligations",
               "~obligations by method"});
  for (const auto& [kind, part] : parts) {
    table.row({escaped(title_of(kind)), Cell{grouped(part.passed), "good"},
               Cell{grouped(part.refuted), part.refuted != 0 ? "bad" : ""},
               Cell{grouped(part.unknown), part.unknown != 0 ? "doubt" : ""},
               counts_text(part.strengths), grouped(part.obligations), counts_text(part.methods)});
  }
  text += table.html();
  if (!s.steps.empty()) {
    Table z3({"put to Z3 besides", "#obligations that it decided"});
    for (const Z3Group& group : s.z3) {
      z3.row(
          {escaped(group.name), Cell{grouped(group.decided), group.decided == 0 ? "bad" : "good"}});
    }
    text += z3.html();
  }
  for (const auto& [kind, part] : parts) {
    text += fmt::format("<h3>{}</h3>\n", escaped(title_of(kind)));
    text += kind == "rule" ? rules_of(part) : rows_of(part.all);
  }
  return text;
}

namespace {

std::string steps_table(const Summary& s) {
  double total = 0;
  for (const StepRecord& step : s.steps) total += step.seconds;
  Table table({"step", "share", "#time", "#exit code"});
  for (const StepRecord& step : s.steps) {
    table.row({escaped(step.name), share(percent(step.seconds, total)), duration(step.seconds),
               Cell{grouped(step.code), step.code != 0 ? "bad" : ""}});
  }
  return "<h3>Steps of the night</h3>\n" + table.html();
}

// Of processes, by part of the work, in microseconds.
std::string spent_table(const Counts& spent) {
  int64_t total = 0;
  for (const auto& [part, us] : spent) total += us;
  std::vector<std::pair<int64_t, std::string>> parts;
  for (const auto& [part, us] : spent) parts.emplace_back(us, part);
  std::ranges::sort(parts, std::ranges::greater());
  Table table({"part of the work", "share of the time", "#time"});
  for (const auto& [us, part] : parts) {
    table.row({escaped(part), share(percent(us, total)), duration(static_cast<double>(us) * 1e-6)});
  }
  return table.html();
}

std::string shares_table(std::string_view of, const std::map<std::string, Share>& shares,
                         double total) {
  Table table({std::string(of), "share of the time", "#cases", "#ms a case"});
  for (const auto& [name, one] : shares) {
    table.row({escaped(name), share(percent(one.seconds, total)), grouped(one.cases),
               fmt::format("{:.1f}", 1000 * one.seconds / static_cast<double>(one.cases))});
  }
  return table.html();
}

}  // namespace

std::string time_section(const Summary& s) {
  std::string text = heading("time", "Where the time goes");
  if (s.steps.empty() && s.cases == 0) return text + none("Not recorded.");
  if (!s.steps.empty()) text += steps_table(s);
  if (s.cases == 0) return text;
  text += fmt::format("<h3>Cases, {} of processor time in all</h3>\n", duration(s.case_seconds));
  if (s.end && !s.end->spent.empty()) text += spent_table(s.end->spent);
  text += shares_table("device", s.by_device, s.case_seconds);
  text += shares_table("cases that are", s.by_source, s.case_seconds);
  Table slow({"~the slowest", "on", "#case", "#ms"});
  for (const CaseRecord& r : s.slowest) {
    slow.row(
        {escaped(r.source), escaped(r.device), grouped(r.number), fmt::format("{:.0f}", r.ms)});
  }
  return text + slow.html();
}

}  // namespace assay::reports
