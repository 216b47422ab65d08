#include "reports/libfuzzer.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace assay::reports {
namespace {

// The number that follows `key`, the spaces between them left out; nothing where there is none.
std::optional<int64_t> number_after(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

void set(int64_t& field, std::optional<int64_t> number) {
  if (number) field = *number;
}

// The sum of "oom/timeout/crash: 1/0/2".
int64_t troubles_of(std::string_view line) {
  constexpr std::string_view kKey = "oom/timeout/crash:";
  const size_t at = line.find(kKey);
  if (at == std::string_view::npos) return 0;
  line = line.substr(at + kKey.size());
  line = line.substr(0, line.find(" time"));
  int64_t sum = 0;
  for (size_t i = 0; i < 3; i++) {
    sum += number_after(line, "").value_or(0);
    const size_t slash = line.find('/');
    if (slash == std::string_view::npos) break;
    line.remove_prefix(slash + 1);
  }
  return sum;
}

// "#1024: cov: 7 ft: 9 corp: 3 …" of -fork, "#1024 NEW cov: 7 ft: 9 corp: 3/40b …" without.
void add_status(TargetRecord& r, std::string_view line) {
  set(r.executions, number_after(line, "#"));
  set(r.edges, number_after(line, " cov:"));
  set(r.features, number_after(line, " ft:"));
  set(r.inputs, number_after(line, " corp:"));
  r.crashes = std::max(r.crashes, troubles_of(line));
}

void add_line(TargetRecord& r, std::string_view line) {
  if (line.starts_with("#")) return add_status(r, line);
  if (line.starts_with("INFO: Loaded ") && line.find("inline 8-bit counters") != line.npos) {
    return set(r.all_edges, number_after(line, "("));
  }
  if (line.starts_with("MERGE-OUTER:") && line.find("new files with") != line.npos) {
    return set(r.kept, number_after(line, "MERGE-OUTER:"));
  }
  if (line.starts_with("SUMMARY: ") && r.trouble.empty()) r.trouble = line.substr(9);
  // Of a run without -fork, which ends at the first.
  if (line.find("Test unit written to ") != line.npos) r.crashes = std::max<int64_t>(r.crashes, 1);
  if (line.starts_with("Done ")) {
    const auto seconds = number_after(line, " runs in");
    if (seconds) r.seconds = static_cast<double>(*seconds);
  }
  if (line.starts_with("INFO: exiting:")) {
    const auto seconds = number_after(line, " time:");
    if (seconds) r.seconds = static_cast<double>(*seconds);
  }
}

}  // namespace

TargetRecord target_from_log(std::string_view name, std::string_view log) {
  TargetRecord r;
  r.name = name;
  bool is_merging = false;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    is_merging = is_merging || line.starts_with("MERGE-");
    // What a merge counts is what it reads.
    if (!is_merging || line.starts_with("MERGE-OUTER:")) add_line(r, line);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return r;
}

}  // namespace assay::reports
