#include "engine/runtime/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the user

namespace assay::runtime {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

constexpr int kGraceMs = 200;  // for a child whose input has ended

// What the system says of a process in /proc/NUMBER/stat: the process group that it is of, and the
// clock ticks that it took, with those of children that it waited for.
struct Taken {
  pid_t group = 0;
  int64_t ticks = 0;
};
std::optional<Taken> taken_by(const std::string& number) {
  std::ifstream file("/proc/" + number + "/stat");
  std::string said;
  if (!std::getline(file, said)) return std::nullopt;
  // The name of a process, in parentheses, may hold anything.
  std::istringstream after(said.substr(std::min(said.size(), said.rfind(')') + 1)));
  std::string state;
  int64_t number_of[15] = {};  // the parent, the group, …
  after >> state;
  for (int64_t& n : number_of) after >> n;
  if (!after) return std::nullopt;
  Taken taken = {static_cast<pid_t>(number_of[1]), 0};
  for (int i = 10; i < 14; i++) taken.ticks += number_of[i];
  return taken;
}

}  // namespace

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Result<std::vector<std::string>> split_words(std::string_view command) {
  std::vector<std::string> words;
  bool is_within = false;
  char quote = 0;
  for (const char c : command) {
    if (quote != 0 && c != quote) {
      words.back() += c;
    } else if (quote != 0) {
      quote = 0;
    } else if (is_blank(c)) {
      is_within = false;
    } else {
      if (!is_within) words.emplace_back();
      is_within = true;
      if (c == '\'' || c == '"') {
        quote = c;
      } else {
        words.back() += c;
      }
    }
  }
  if (quote != 0) return Error{fmt::format("a quote in {} is left open", quoted(command)), 0, 0};
  if (words.empty()) return Error{"a command of no words", 0, 0};
  return words;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      leads_(other.leads_),
      fd_(std::exchange(other.fd_, -1)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(leads_, other.leads_);
  std::swap(fd_, other.fd_);
  return *this;
}

Child::~Child() { stop(); }

// A socket rather than two pipes: writing to one whose other end is gone can be told to raise no
// signal.
Result<Child> Child::start(const std::vector<std::string>& words, bool leads) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{fmt::format("no socket for {}: {}", words[0], std::strerror(errno)), 0, 0};
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  if (leads) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  Child child;
  child.leads_ = leads;
  const int code =
      posix_spawnp(&child.pid_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  child.fd_ = ends[0];
  if (code != 0) {
    child.pid_ = -1;
    return Error{fmt::format("{} cannot be started: {}", words[0], std::strerror(code)), 0, 0};
  }
  fcntl(child.fd_, F_SETFL, O_NONBLOCK);
  return child;
}

Child::End Child::exchange(std::string& out, std::string& in, int64_t deadline_ns) {
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const int64_t left = deadline_ns - now_ns();
    if (left <= 0) return End::Timeout;
    pollfd watched = {fd_, static_cast<short>(POLLIN | (out.empty() ? 0 : POLLOUT)), 0};
    const int ready =
        poll(&watched, 1, static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, 60'000)));
    if (ready <= 0) continue;
    if ((watched.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
      if (n > 0) {
        in.append(buffer.data(), static_cast<size_t>(n));
        return End::Readable;
      }
      if (n == 0 || (errno != EAGAIN && errno != EINTR)) return End::Closed;
    }
    if ((watched.revents & POLLOUT) == 0) continue;
    const ssize_t n = send(fd_, out.data(), out.size(), MSG_NOSIGNAL);
    if (n > 0) out.erase(0, static_cast<size_t>(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR) return End::Closed;
  }
}

std::optional<int64_t> Child::processor_ns() const {
  int64_t ticks = 0;
  if (!leads_) {
    const std::optional<Taken> taken = taken_by(fmt::format("{}", pid_));
    if (!taken) return std::nullopt;
    ticks = taken->ticks;
  } else {
    std::error_code error;
    bool is_there = false;
    for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::optional<Taken> taken = taken_by(name);  // one that has just ended has none
      if (!taken || taken->group != pid_) continue;
      ticks += taken->ticks;
      is_there = true;
    }
    if (!is_there) return std::nullopt;
  }
  return ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

std::string Child::stop() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  if (pid_ < 0) return "had ended";
  int status = 0;
  pid_t ended = 0;
  // What has ended, or ends because its input has, is let to say how.
  const int64_t grace = now_ns() + int64_t{kGraceMs} * 1'000'000;
  while ((ended = waitpid(pid_, &status, WNOHANG)) == 0 && now_ns() < grace) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended == 0) {
    kill(leads_ ? -pid_ : pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  if (ended == 0) return "did not end and was killed";
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with {}", WEXITSTATUS(status));
}

}  // namespace assay::runtime
