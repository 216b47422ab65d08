#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"
#include "oracles/smt/prover.h"
#include "props/property.h"
#include "reports/record.h"

namespace CLI {
class App;
}

namespace assay::fuzz {

// --double, --z3, --cache, --recheck, --strict, --evidence, --records and --jobs: of the commands
// that prove.
struct ProofOptions {
  bool is_doubled = false;
  bool asks_z3 = false;
  std::string cache;
  int recheck_percent = 0;
  bool strict = false;
  std::string evidence;  // a folder; "" for none
  std::string records;   // a file; "" for none
  size_t jobs = 0;       // 0: as many as the machine runs at once
  uint64_t seed = 1;

  smt::ProverOptions prover_options() const;
  size_t threads() const;
};
void add_proof_options(CLI::App& app, ProofOptions& options);

// Writes the evidence of a failure into the folder, under this name. An error names the file.
Result<bool> write_evidence(const ProofOptions& options, const std::string& name,
                            const props::Checked& checked);

// Appends records of what was proved. An error names the file.
Result<bool> write_records(const ProofOptions& options, std::span<const reports::Record> records);

// What questions were asked of whom, and how long that took: the provers of all threads together.
class QuestionTotals {
 public:
  void add(const smt::Prover& prover);
  // A line a kind. Nothing where nothing was asked.
  void print() const;
  const std::vector<std::string>& disagreements() const { return disagreements_; }

 private:
  std::map<std::string, smt::Statistics, std::less<>> kinds_;
  std::vector<std::string> disagreements_;
};

}  // namespace assay::fuzz
