#include "fuzz/trial/line_process.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

namespace assay::fuzz {
namespace {

// What sleeps may do so for so many times as long as others work.
constexpr int64_t kAsleep = 6;
// How often a process is looked at while it is waited for.
constexpr int64_t kLooks = 16;

// Whether a process has taken too long. It counts from the first look on: most answers are there
// before, and to look takes a while.
class Patience {
 public:
  Patience(const runtime::Child& child, int64_t limit_ms)
      : child_(child),
        limit_ns_(limit_ms * 1'000'000),
        begin_(runtime::now_ns()),
        next_look_(begin_ + limit_ns_ / kLooks) {}

  int64_t next_look() const { return next_look_; }
  bool is_over() {
    const int64_t now = runtime::now_ns();
    const int64_t waited = now - begin_;
    next_look_ = now + std::max<int64_t>(limit_ns_ / kLooks, 1'000'000);
    if (waited >= kAsleep * limit_ns_) return true;
    const std::optional<int64_t> taken = child_.processor_ns();
    if (!taken) return waited >= limit_ns_;
    if (before_ < 0) before_ = *taken;
    return *taken - before_ >= limit_ns_;
  }

 private:
  const runtime::Child& child_;
  int64_t limit_ns_;
  int64_t begin_;
  int64_t next_look_;
  int64_t before_ = -1;  // what it had taken at the first look
};

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
  Patience patience(child_, limit_ms);
  for (;;) {
    if (const size_t end = in_.find('\n'); end != std::string::npos) {
      line = in_.substr(0, end);
      in_.erase(0, end + 1);
      return Came::Line;
    }
    switch (child_.exchange(out_, in_, patience.next_look())) {
      case runtime::Child::End::Readable: break;
      case runtime::Child::End::Closed: return Came::Crash;
      case runtime::Child::End::Timeout:
        if (patience.is_over()) return Came::Hang;
        break;
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
