#include "fuzz/line_process.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace assay::fuzz {
namespace {

// A new file in the temporary folder; "" where there can be none.
std::string temporary_file() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "assay-log-XXXXXX").string();
  const int file = error ? -1 : mkstemp(name.data());
  if (file < 0) return "";
  close(file);
  return name;
}

}  // namespace

LineProcess::LineProcess(std::vector<std::string> command, std::string log)
    : command_(std::move(command)), log_(std::move(log)) {
  if (log_.empty()) {
    log_ = temporary_file();
    owns_log_ = true;
  }
  if (!log_.empty()) command_.insert(command_.end(), {"--log", log_});
}

LineProcess::~LineProcess() {
  stop();
  std::error_code ignored;
  if (owns_log_ && !log_.empty()) std::filesystem::remove(log_, ignored);
}

Result<bool> LineProcess::ask(std::string_view request) {
  if (!is_running_) {
    ASSAY_TRY(started, runtime::Child::start(command_, true));
    child_ = std::move(started);
    is_running_ = true;
  }
  out_.append(request).push_back('\n');
  return true;
}

LineProcess::Came LineProcess::read(std::string& line, int64_t limit_ms) {
  const int64_t deadline = runtime::now_ns() + limit_ms * 1'000'000;
  for (;;) {
    if (const size_t end = in_.find('\n'); end != std::string::npos) {
      line = in_.substr(0, end);
      in_.erase(0, end + 1);
      return Came::Line;
    }
    switch (child_.exchange(out_, in_, deadline)) {
      case runtime::Child::End::Readable: break;
      case runtime::Child::End::Closed: return Came::Crash;
      case runtime::Child::End::Timeout: return Came::Hang;
    }
  }
}

std::string LineProcess::stop() {
  is_running_ = false;
  out_.clear();
  in_.clear();
  return child_.stop();
}

std::string LineProcess::last_words() const {
  std::ifstream in(log_);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace assay::fuzz
