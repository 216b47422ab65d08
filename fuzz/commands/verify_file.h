#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/kernel_lists.h"
#include "engine/schedule/cache.h"
#include "fuzz/commands/proof_options.h"
#include "oracles/workgroup/kernel_file.h"
#include "props/property.h"
#include "props/verifier.h"

namespace assay::fuzz {

struct VerifyOptions {
  std::vector<std::string> files;
  std::vector<std::string> properties;
  std::vector<std::string> opts;
  std::string profile;
  uop::Switches switches;
  ProofOptions proof;
  bool quiet = false;
  bool verbose = false;
  // What these name.
  std::vector<const props::Property*> chosen;
  runtime::KernelLists lists;
  const uop::Target* target = nullptr;
};

// What became of one file.
struct FileResult {
  std::vector<props::Judgement> judgements;
  std::string malformed;  // why there is nothing to verify
  std::string refused;    // what the compiler says, as the file expects
  int64_t kernels = 0;
};

// Verifies files, with a prover and a memory of its own.
class FileVerifier {
 public:
  // When it goes, what it asked is added to `totals`, of which `mutex` is.
  FileVerifier(const VerifyOptions& options, const std::vector<std::string>& files,
               QuestionTotals& totals, std::mutex& mutex);
  FileVerifier(FileVerifier&&) = default;
  ~FileVerifier();

  FileResult operator()(size_t i);

 private:
  Result<int64_t> program(const std::string& text, FileResult& result);
  Result<int64_t> kernel(const std::string& text, FileResult& result);
  Result<int64_t> calls(uop::Graph& g, uop::Ref linear, FileResult& result);
  Result<int64_t> list(const std::string& text, workgroup::KernelFile& file, FileResult& result);
  bool is_chosen(std::string_view property) const;

  const VerifyOptions& options_;
  const std::vector<std::string>& files_;
  QuestionTotals& totals_;
  std::mutex& mutex_;
  std::unique_ptr<smt::Prover> prover_;
  std::unique_ptr<schedule::Cache> cache_;
  std::unique_ptr<props::Verifier> verifier_;
};

}  // namespace assay::fuzz
