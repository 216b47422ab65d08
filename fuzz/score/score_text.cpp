#include "fuzz/score/score_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace assay::fuzz {
namespace {

constexpr size_t kMostEvidence = 400;  // letters of it

bool is_fault(const Scored& s) { return s.no_fault.empty(); }

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

double percent(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

struct Row {
  size_t found = 0;
  size_t all = 0;
  std::map<std::string, int> judges;
};

std::map<FaultClass, Row> rows_of(std::span<const Scored> scored) {
  std::map<FaultClass, Row> rows;
  for (const Scored& s : scored) {
    if (!is_fault(s)) continue;
    Row& row = rows[s.of];
    row.all++;
    row.found += s.is_found ? 1 : 0;
    for (const std::string& j : s.judges) row.judges[j]++;
  }
  return rows;
}

std::string counts_text(std::span<const Scored> scored) {
  std::vector<double> seconds;
  std::vector<double> blaming;
  size_t all = 0;
  size_t right = 0;
  size_t proved = 0;
  for (const Scored& s : scored) {
    all += is_fault(s) ? 1 : 0;
    if (!s.is_found) continue;
    seconds.push_back(s.seconds);
    blaming.push_back(s.blame_seconds);
    right += s.is_blamed_right ? 1 : 0;
    proved += s.is_by_proof ? 1 : 0;
  }
  std::string text = fmt::format(
      "{} of {} found ({:.1f} %), in {:.2f} s (median), {:.2f} s at most; {} by proof alone\n",
      seconds.size(), all, percent(seconds.size(), all), quantile(seconds, 0.5),
      quantile(seconds, 1), proved);
  return text +
         fmt::format("{} of {} blamed right ({:.1f} %), in {:.2f} s (median), {:.2f} s at most\n",
                     right, seconds.size(), percent(right, seconds.size()), quantile(blaming, 0.5),
                     quantile(blaming, 1));
}

// A heading and a line each; "none" where there is none.
std::string list_text(std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return fmt::format("{}: none\n", heading);
  return fmt::format("{}: {}\n  {}\n", heading, lines.size(), fmt::join(lines, "\n  "));
}

}  // namespace

std::string line_of(const Scored& s) {
  if (!is_fault(s)) return fmt::format("none   {}: {}", s.name, s.no_fault);
  if (!s.is_found) return fmt::format("missed {}: {}", s.name, s.why);
  return fmt::format("found  {}: case {}, {:.2f} s, by {}; blames {}{} in {:.2f} s", s.name,
                     s.tried, s.seconds, fmt::join(s.judges, ", "), s.blame.nearest(),
                     s.is_blamed_right ? "" : " WRONGLY", s.blame_seconds);
}

std::string details_of(const Scored& s) {
  std::string text;
  for (const Finding& f : s.findings) {
    text += fmt::format("  {} at {} ({}): {}\n", f.judge, f.stage, f.shape,
                        f.evidence.substr(0, kMostEvidence));
  }
  if (!s.refused.empty()) text += fmt::format("  fails without it: {}\n", s.refused);
  if (!s.is_found) return text;
  return text + fmt::format("  blame: stage {} pass {} rule {} firing {}: {}\n  {}\n{}\n",
                            s.blame.stage, s.blame.pass, s.blame.rule, s.blame.firing,
                            s.blame.title, s.blame.evidence.substr(0, kMostEvidence), s.witness);
}

std::string matrix_text(std::span<const Scored> scored) {
  const std::map<FaultClass, Row> rows = rows_of(scored);
  std::set<std::string> judges;
  for (const auto& [of, row] : rows) {
    for (const auto& [j, n] : row.judges) judges.insert(j);
  }
  std::string text = fmt::format("{:<10} {:>9}", "class", "found");
  for (const std::string& j : judges)
    text += fmt::format("  {:>{}}", j, std::max<size_t>(5, j.size()));
  text += "\n";
  for (const auto& [of, row] : rows) {
    text += fmt::format("{:<10} {:>4}/{:<4}", to_text(of), row.found, row.all);
    for (const std::string& j : judges) {
      const auto at = row.judges.find(j);
      const std::string n = at == row.judges.end() ? "" : std::to_string(at->second);
      text += fmt::format("  {:>{}}", n, std::max<size_t>(5, j.size()));
    }
    text += "\n";
  }
  return text;
}

std::string summary_text(std::span<const Scored> scored) {
  std::vector<std::string> survivors;
  std::vector<std::string> wrongly;
  std::vector<std::string> none;
  std::vector<std::string> alarms;
  std::vector<std::string> lonely;
  for (const Scored& s : scored) {
    if (!is_fault(s))
      none.push_back(fmt::format("{}: {}", s.name, s.no_fault));
    else if (!s.is_found)
      survivors.push_back(fmt::format("{}: {}", s.name, s.why));
    else if (!s.is_blamed_right)
      wrongly.push_back(fmt::format("{}: {}", s.name, s.blame.nearest()));
    if (!s.refused.empty()) alarms.push_back(fmt::format("{}: {}", s.name, s.refused));
  }
  for (const auto& [of, row] : rows_of(scored)) {
    if (row.judges.size() < 2) lonely.emplace_back(to_text(of));
  }
  return fmt::format("{}\n{}{}{}{}{}{}", matrix_text(scored), counts_text(scored),
                     list_text("survivors", survivors), list_text("blamed wrongly", wrongly),
                     list_text("classes that one judge alone finds", lonely),
                     list_text("no faults, and not counted", none),
                     list_text("what fails without a fault", alarms));
}

bool is_red(std::span<const Scored> scored) {
  return std::ranges::any_of(
      scored, [](const Scored& s) { return !s.refused.empty() || (is_fault(s) && !s.is_found); });
}

}  // namespace assay::fuzz
