#include "oracles/smt/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>

#include "oracles/smt/canonical.h"

namespace assay::smt {
namespace {

// Of a frame: the length of what follows it.
constexpr size_t kHead = sizeof(uint64_t);
// What a solver may have beyond what its process begins with.
constexpr uint64_t kMostMemory = uint64_t{4} << 30;

int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string frame(std::string_view body) {
  const uint64_t length = body.size();
  std::string bytes(kHead, '\0');
  std::memcpy(bytes.data(), &length, kHead);
  return bytes.append(body);
}

enum class End : uint8_t { Whole, Closed, Late };

// Reads `count` bytes until the deadline; a negative one never comes.
End read_all(int fd, char* bytes, size_t count, int64_t deadline_ms) {
  while (count > 0) {
    if (deadline_ms >= 0) {
      const int64_t left = deadline_ms - now_ms();
      pollfd poll_fd = {fd, POLLIN, 0};
      const int ready = left <= 0 ? 0 : poll(&poll_fd, 1, static_cast<int>(left));
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return End::Late;
    }
    const ssize_t n = read(fd, bytes, count);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return End::Closed;
    bytes += n;
    count -= static_cast<size_t>(n);
  }
  return End::Whole;
}

End read_frame(int fd, std::string& body, int64_t deadline_ms) {
  uint64_t length = 0;
  const End end = read_all(fd, reinterpret_cast<char*>(&length), kHead, deadline_ms);
  if (end != End::Whole) return end;
  body.resize(length);
  return read_all(fd, body.data(), length, deadline_ms);
}

// Answer, steps, model, reason: decimals between blanks, then the reason.
std::string to_text(const Solved& solved) {
  std::string text = std::to_string(static_cast<int>(solved.answer)) + " " +
                     std::to_string(solved.steps) + " " + std::to_string(solved.model.size());
  for (const Number& v : solved.model) text += " " + decimal(v.n) + " " + decimal(v.d);
  return text + " " + solved.why;
}

Solved from_text(std::string_view text) {
  const auto word = [&] {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view w = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return from_decimal(w);
  };
  Solved solved;
  solved.answer = static_cast<Satisfiable>(word());
  solved.steps = static_cast<int64_t>(word());
  solved.model.resize(static_cast<size_t>(word()));
  for (Number& v : solved.model) {
    v.n = word();
    v.d = word();
  }
  solved.why = text;
  return solved;
}

// The address sanitizer reserves more than any limit.
#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_UNLIMITED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_UNLIMITED
#endif
#endif

void limit_memory() {
#if !defined(ASSAY_UNLIMITED)
  const rlimit limit = {kMostMemory, kMostMemory};
  setrlimit(RLIMIT_DATA, &limit);
#endif
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

// The child's life: a question, an answer, until the other end is closed.
[[noreturn]] void serve(int fd, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGTERM}) std::signal(signal, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);  // who is interrupted ends us
  limit_memory();
  for (int other = 3; other < 256; other++) {
    if (other != fd) close(other);
  }
  // What solvers print is not for our user.
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) dup2(nowhere, standard);
  std::string question;
  while (read_frame(fd, question, -1) == End::Whole) {
    int64_t steps = 0;
    std::memcpy(&steps, question.data() + 1, sizeof(steps));
    const auto solver = static_cast<SolverName>(question[0]);
    const Formula f = from_bytes(std::string_view(question).substr(1 + sizeof(steps)));
    const Solved solved = solver == SolverName::Z3 ? ask_z3(f, steps) : ask_cvc5(f, steps);
    if (!write_all(fd, frame(to_text(solved)))) break;
  }
  _exit(0);
}

Solved not_solved(std::string why) { return {Satisfiable::Unknown, {}, 0, std::move(why)}; }

}  // namespace

std::string_view to_text(SolverName name) { return name == SolverName::Z3 ? "z3" : "cvc5"; }

SolverChild::~SolverChild() { stop(); }

bool SolverChild::start() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return false;
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) serve(fds[1], parent);
  close(fds[1]);
  fd_ = fds[0];
  if (pid_ > 0) return true;
  stop();
  return false;
}

void SolverChild::stop() {
  if (fd_ >= 0) close(fd_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  fd_ = -1;
  pid_ = -1;
}

Solved SolverChild::ask(SolverName solver, std::string_view question, int64_t steps,
                        int64_t limit_ms) {
  if (pid_ < 0 && !start()) return not_solved("no process");
  std::string body(1, static_cast<char>(solver));
  body.append(reinterpret_cast<const char*>(&steps), sizeof(steps));
  body.append(question);
  std::string answer;
  const bool is_sent = write_all(fd_, frame(body));
  const End end = is_sent ? read_frame(fd_, answer, now_ms() + limit_ms) : End::Closed;
  if (end == End::Whole) return from_text(answer);
  stop();
  return not_solved(end == End::Late ? "watchdog" : "crash");
}

}  // namespace assay::smt
