#include "fuzz/commands/proof_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <CLI/CLI.hpp>

namespace assay::fuzz {

smt::ProverOptions ProofOptions::prover_options() const {
  smt::ProverOptions how;
  how.is_doubled = is_doubled;
  how.asks_z3 = asks_z3;
  how.cache_file = cache;
  how.recheck_percent = recheck_percent;
  how.seed = seed;
  return how;
}

size_t ProofOptions::threads() const {
  return jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

void add_proof_options(CLI::App& app, ProofOptions& options) {
  app.add_flag("--double", options.is_doubled, "two different methods must agree on each answer");
  app.add_flag("--z3", options.asks_z3, "put each obligation to Z3, whatever else decides it");
  app.add_option("--cache", options.cache, "keep answers in this file, and believe what it holds")
      ->type_name("FILE");
  app.add_option("--recheck", options.recheck_percent,
                 "percent of what the cache holds that is proved again")
      ->type_name("N")
      ->check(CLI::Range(0, 100));
  app.add_flag("--strict", options.strict, "exit with 4 where something is unknown");
  app.add_option("--evidence", options.evidence, "write files that show each failure here")
      ->type_name("DIR");
  app.add_option("--records", options.records,
                 "append records of what was proved, for assay report")
      ->type_name("FILE");
  app.add_option("--jobs", options.jobs, "threads; as many as the machine runs at once by default")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--seed", options.seed, "of inputs that are sampled, and of what is rechecked");
}

Result<bool> write_evidence(const ProofOptions& options, const std::string& name,
                            const props::Checked& checked) {
  if (options.evidence.empty()) return true;
  std::error_code error;
  std::filesystem::create_directories(options.evidence, error);
  std::string plain;
  for (const char c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    plain += is_plain ? c : '-';
  }
  for (const props::Evidence& e : checked.evidence) {
    const std::string path = fmt::format("{}/{}-{}", options.evidence, plain, e.suffix);
    std::ofstream out(path, std::ios::binary);
    out << e.text;
    out.close();
    if (!out) return Error{fmt::format("{} cannot be written", path)};
  }
  return true;
}

Result<bool> write_records(const ProofOptions& options, std::span<const reports::Record> records) {
  if (options.records.empty()) return true;
  std::ofstream out(options.records, std::ios::binary | std::ios::app);
  for (const reports::Record& r : records) out << reports::to_line(r);
  out.close();
  if (!out) return Error{fmt::format("{} cannot be written", options.records)};
  return true;
}

void QuestionTotals::add(const smt::Prover& prover) {
  for (const auto& [kind, s] : prover.statistics()) {
    smt::Statistics& all = kinds_[kind];
    all.asked += s.asked;
    all.no += s.no;
    all.yes += s.yes;
    all.unknown += s.unknown;
    all.from_cache += s.from_cache;
    all.steps += s.steps;
    all.seconds += s.seconds;
    for (const auto& [method, n] : s.by_method) all.by_method[method] += n;
    for (const auto& [cause, n] : s.unknown_by_cause) all.unknown_by_cause[cause] += n;
  }
  disagreements_.insert(disagreements_.end(), prover.disagreements().begin(),
                        prover.disagreements().end());
}

void QuestionTotals::print() const {
  for (const auto& [kind, s] : kinds_) {
    std::string methods;
    for (const auto& [method, n] : s.by_method) methods += fmt::format(" {} {}", method, n);
    for (const auto& [cause, n] : s.unknown_by_cause) {
      methods += fmt::format(" unknown ({}) {}", cause, n);
    }
    fmt::print("questions of {}: {} asked, {} from the cache,{}; {:.2f} s\n", kind, s.asked,
               s.from_cache, methods, s.seconds);
  }
}

}  // namespace assay::fuzz
