#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/child.h"

namespace assay::fuzz {

// A process that is asked a line on its standard input and answers in lines on its standard output.
// It is started when it is asked and none runs, and is killed with all that it started when this
// goes.
class LineProcess {
 public:
  // `command` starts it; its `--log` says where what it says on standard error goes: to `log`, or
  // to a file that goes when this goes.
  explicit LineProcess(std::vector<std::string> command, std::string log = "");
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;
  ~LineProcess();

  // An error says why no process could be started.
  Result<bool> ask(std::string_view request);
  // The next line of its answer: whether it came, and if not whether the process is gone ("crash")
  // or has said nothing more for so long ("hang"). That is time of processors, so that a machine
  // that is busy with something else makes nothing hang; what sleeps hangs after a multiple of it.
  enum class Came : uint8_t { Line, Crash, Hang };
  Came read(std::string& line, int64_t limit_ms);

  bool is_running() const { return is_running_; }
  // How it ended.
  std::string stop();
  // The last line that it said on standard error: why it ended, if it knew.
  std::string last_words() const;

 private:
  std::vector<std::string> command_;
  std::string log_;
  bool owns_log_ = false;
  runtime::Child child_;
  bool is_running_ = false;
  std::string out_, in_;  // what is not sent yet, and not read yet
};

}  // namespace assay::fuzz
