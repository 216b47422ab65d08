#include "oracles/smt/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "oracles/smt/solver.h"

namespace assay::smt {
namespace {

// The first word of each line; another one where the form of questions or lines changes.
constexpr std::string_view kVersion = "assay-smt-1";

std::string line_of(const QuestionKey& key, const KnownAnswer& answer) {
  std::string line =
      fmt::format("{} {:016x}{:016x} {} {}", kVersion, key.high, key.low,
                  fmt::join(answer.methods, "+"), answer.is_satisfiable ? "yes" : "no");
  for (const Number& v : answer.model) {
    line += fmt::format(" {}/{}", decimal(v.n), decimal(v.d));
  }
  const uint64_t check = XXH3_64bits(line.data(), line.size());
  return fmt::format("{} {:016x}\n", line, check);
}

bool read_answer(std::istringstream& words, QuestionKey& key, KnownAnswer& answer) {
  std::string version;
  std::string digits;
  std::string methods;
  std::string truth;
  if (!(words >> version >> digits >> methods >> truth) || version != kVersion ||
      digits.size() != 32) {
    return false;
  }
  key.high = std::stoull(digits.substr(0, 16), nullptr, 16);
  key.low = std::stoull(digits.substr(16), nullptr, 16);
  answer.is_satisfiable = truth == "yes";
  for (size_t at = 0; at <= methods.size();) {
    const size_t end = std::min(methods.find('+', at), methods.size());
    answer.methods.push_back(methods.substr(at, end - at));
    at = end + 1;
  }
  for (std::string word; words >> word;) {
    const size_t slash = word.find('/');
    if (slash == std::string::npos) return false;
    answer.model.push_back(
        {from_decimal(word.substr(0, slash)), from_decimal(word.substr(slash + 1))});
  }
  return true;
}

bool is_whole(const std::string& line, std::string& content) {
  const size_t blank = line.rfind(' ');
  if (blank == std::string::npos || line.size() - blank != 17) return false;
  content = line.substr(0, blank);
  return line.substr(blank + 1) ==
         fmt::format("{:016x}", XXH3_64bits(content.data(), content.size()));
}

}  // namespace

QuestionKey key_of(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

AnswerCache::~AnswerCache() {
  if (fd_ >= 0) close(fd_);
}

Result<bool> AnswerCache::open(const std::string& file) {
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) return Error{fmt::format("{}: {}", file, std::strerror(errno))};
  std::ifstream in(file);
  std::string content;
  bool ends_whole = true;
  for (std::string line; std::getline(in, line);) {
    ends_whole = !in.eof();
    if (!is_whole(line, content)) continue;
    std::istringstream words(content);
    QuestionKey key;
    KnownAnswer answer;
    if (read_answer(words, key, answer)) known_.insert_or_assign(key, std::move(answer));
  }
  // What was cut off must not take the next line with it.
  if (!ends_whole && write(fd_, "\n", 1) != 1) {
    return Error{fmt::format("{}: {}", file, std::strerror(errno))};
  }
  return true;
}

const KnownAnswer* AnswerCache::find(const QuestionKey& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void AnswerCache::keep(const QuestionKey& key, KnownAnswer answer) {
  if (fd_ >= 0) {
    const std::string line = line_of(key, answer);
    // A full disk costs the line, not the answer.
    [[maybe_unused]] const ssize_t written = write(fd_, line.data(), line.size());
  }
  known_.insert_or_assign(key, std::move(answer));
}

}  // namespace assay::smt
