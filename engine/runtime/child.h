#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace assay::runtime {

// The words of a command: separated by blanks, those between quotes ('…' or "…") kept together.
// Nothing is expanded, and no shell sees it. An error where a quote is left open or there is no
// word.
Result<std::vector<std::string>> split_words(std::string_view command);

// A process whose standard input and output are ours. It is killed when this goes.
class Child {
 public:
  Child() = default;
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // With `leads` its own children are killed with it: those that hang would outlive it otherwise.
  static Result<Child> start(const std::vector<std::string>& words, bool leads = false);

  // Why an exchange came to an end.
  enum class End : uint8_t { Readable, Closed, Timeout };
  // Sends what is left of `out` and takes what comes in, until something has come in, the other end
  // is closed, or `limit_ms` are over (by the caller's clock of `deadline_ns`). Neither direction
  // waits for the other.
  End exchange(std::string& out, std::string& in, int64_t deadline_ns);

  // The time of processors that it took so far, with what it started: those that it waited for, and
  // where it leads those that run. Nothing where the system does not say.
  std::optional<int64_t> processor_ns() const;

  // Ends it, if it has not ended, and says how it did: "ended with 3", "was killed by signal 11".
  std::string stop();

 private:
  pid_t pid_ = -1;
  bool leads_ = false;  // a process group
  int fd_ = -1;
};

// Nanoseconds by a clock that only goes forward.
int64_t now_ns();

}  // namespace assay::runtime
