#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "oracles/smt/evaluate.h"

namespace assay::smt {

// 128 bits that stand for a question in canonical form.
struct QuestionKey {
  uint64_t low = 0;
  uint64_t high = 0;
  auto operator<=>(const QuestionKey&) const = default;
};
QuestionKey key_of(std::string_view bytes);

// What was decided of a question.
struct KnownAnswer {
  bool is_satisfiable = false;
  std::vector<Number> model;         // of the canonical form's variables
  std::vector<std::string> methods;  // that found it; two where they had to agree
};

// Answers by question, in memory and, where it has a file, there too: a line each, appended with
// one write, so that processes may share a file and a killed one loses nothing but its last line. A
// line that is cut off or damaged is skipped.
class AnswerCache {
 public:
  AnswerCache() = default;
  AnswerCache(const AnswerCache&) = delete;
  AnswerCache& operator=(const AnswerCache&) = delete;
  ~AnswerCache();

  // An error names the file, which is then not used.
  Result<bool> open(const std::string& file);

  const KnownAnswer* find(const QuestionKey& key) const;
  void keep(const QuestionKey& key, KnownAnswer answer);
  // Keys in order, for those who prove again what is held.
  size_t size() const { return known_.size(); }

 private:
  std::map<QuestionKey, KnownAnswer> known_;
  int fd_ = -1;
};

}  // namespace assay::smt
