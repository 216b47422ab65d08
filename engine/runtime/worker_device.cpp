#include "engine/runtime/worker_device.h"

#include <fmt/format.h>

#include "engine/runtime/child.h"
#include "engine/runtime/protocol.h"
#include "engine/uop/text.h"

namespace assay::runtime {
namespace {

// How long a command may take that has no limit of its own.
constexpr int64_t kForeverMs = int64_t{1000} * 60 * 60 * 24 * 365;

// Talks to the child. What goes wrong ends it.
class Talk {
 public:
  explicit Talk(std::vector<std::string> words) : words_(std::move(words)) {}

  Result<bool> start() {
    ASSAY_TRY(child, Child::start(words_));
    child_ = std::move(child);
    reader_ = {};
    out_.clear();
    status_ = Status::Ok;
    return true;
  }

  // Sends what has no answer; it leaves with the next question.
  void tell(Say type, std::string payload) {
    out_ += encode({type, serial_++, std::move(payload)});
  }
  void begin(Say type, std::string payload) {
    asked_ = serial_;
    tell(type, std::move(payload));
  }
  // The payload of the answer to begin(). After an error, status() is Ok where the child itself
  // refused, and goes on.
  Result<std::string> end(int64_t limit_ms) {
    const int64_t limit = std::min(limit_ms > 0 ? limit_ms : kForeverMs, kForeverMs);
    const int64_t deadline = now_ns() + limit * 1'000'000;
    for (;;) {
      Result<std::optional<Frame>> frame = reader_.next();
      if (!frame.ok()) return give_up(Status::Lost, frame.error().message);
      if (frame.value()) return judge(*std::move(frame).value());
      std::string in;
      const Child::End end = child_.exchange(out_, in, deadline);
      if (end == Child::End::Timeout) {
        return give_up(Status::Timeout, fmt::format("no answer within {} ms", limit));
      }
      if (end == Child::End::Closed) {
        return give_up(Status::Lost,
                       reader_.is_within() ? "its answer is cut short" : "it gave no answer");
      }
      reader_.feed(in);
    }
  }
  Status status() const { return status_; }

 private:
  Result<std::string> judge(Frame frame) {
    if (frame.serial != asked_) {
      return give_up(Status::Lost,
                     fmt::format("an answer to request {} when {} was made", frame.serial, asked_));
    }
    if (frame.type == Say::Answer) return std::move(frame.payload);
    Unpacker u(frame.payload);
    const std::string why(u.text());
    if (frame.type != Say::Failed || !u.is_done()) {
      return give_up(Status::Lost, "its answer is malformed");
    }
    return Error{why, 0, 0};
  }

 public:
  Error give_up(Status status, std::string_view why) {
    status_ = status;
    return Error{fmt::format("{}; the worker {}", why, child_.stop()), 0, 0};
  }

 private:
  std::vector<std::string> words_;
  Child child_;
  FrameReader reader_;
  std::string out_;  // not sent yet
  uint32_t serial_ = 1;
  uint32_t asked_ = 0;
  Status status_ = Status::Ok;
};

// What the child said of its device.
struct Greeting {
  std::string name;
  std::string driver;
  Target target;
};

Result<Greeting> greet(Talk& talk, const OpenOptions& options) {
  const Result<bool> started = talk.start();
  if (!started.ok()) return started.error();
  Packer p;
  p.number(options.profile != nullptr ? 1 : 0);
  if (options.profile != nullptr) pack(p, *options.profile);
  talk.begin(Say::Hello, p.take());
  ASSAY_TRY(said, talk.end(options.limit_ms));
  Unpacker u(said);
  Greeting greeting;
  greeting.name = u.text();
  greeting.driver = u.text();
  std::optional<Target> target = unpack_target(u);
  if (!target || !u.is_done()) return talk.give_up(Status::Lost, "its greeting is malformed");
  greeting.target = *std::move(target);
  return greeting;
}

class WorkerDevice : public Device {
 public:
  WorkerDevice(std::string name, Talk talk, Greeting greeting, const OpenOptions& options)
      : Device(std::move(name), std::move(greeting.target)),
        talk_(std::move(talk)),
        options_(options),
        driver_(fmt::format("{} {}", greeting.name, greeting.driver)) {
    if (options.profile != nullptr) {
      profile_ = *options.profile;
      options_.profile = &profile_;
    }
  }

  std::string driver() const override { return driver_; }

 protected:
  Result<bool> make_storage(uint32_t number, int64_t bytes) override {
    Packer p;
    p.number(number).number(bytes).text(fmt::format("storage {}", number));
    talk_.begin(Say::Allocate, p.take());
    const Result<std::string> said = talk_.end(options_.limit_ms);
    if (!said.ok()) return lost(said.error());
    return true;
  }
  void drop_storage(uint32_t number) override {
    Packer p;
    p.number(number);
    talk_.tell(Say::Release, p.take());
  }
  void drop_kernel(uint32_t number) override {
    Packer p;
    p.number(number);
    talk_.tell(Say::Drop, p.take());
  }

  std::vector<Result<bool>> make_kernels(Graph& g, std::span<const Ref> linears,
                                         std::span<const uint32_t> numbers, uop::Watch*) override {
    Packer p;
    p.number(static_cast<int64_t>(linears.size()));
    for (size_t i = 0; i < linears.size(); i++) {
      p.number(numbers[i]).text(uop::to_text(g, linears[i], "linear"));
    }
    talk_.begin(Say::Build, p.take());
    const Result<std::string> said = talk_.end(options_.limit_ms);
    if (!said.ok()) return std::vector<Result<bool>>(linears.size(), lost(said.error()));
    Unpacker u(said.value());
    std::vector<Result<bool>> made;
    for (size_t n = u.count(); n > 0; n--) {
      const std::string error(u.text());
      made.emplace_back(error.empty() ? Result<bool>(true) : Error{error, 0, 0});
    }
    if (u.is_done() && made.size() == linears.size()) return made;
    const Error error = lost(talk_.give_up(Status::Lost, "its answer is malformed"));
    return std::vector<Result<bool>>(linears.size(), error);
  }

  Result<bool> start(const Batch& batch) override {
    Packer p;
    pack(p, batch);
    std::string payload = p.take();
    if (payload.size() > kMostPayload) {
      return Error{fmt::format("a batch of {} bytes is too large for a worker", payload.size()), 0,
                   0};
    }
    talk_.begin(Say::Run, std::move(payload));
    return true;
  }

  Outcome complete(const Batch& batch) override {
    const Result<std::string> said =
        talk_.end(batch.limit_ms > 0 ? batch.limit_ms : options_.limit_ms);
    if (!said.ok()) return failed(batch, said.error());
    Unpacker u(said.value());
    std::optional<Outcome> outcome = unpack_outcome(u);
    std::vector<std::string_view> read;
    for (size_t i = 0; i < batch.commands.size(); i++) read.push_back(u.text());
    bool is_sound = outcome && u.is_done() && outcome->done.size() == batch.commands.size() &&
                    outcome->command < static_cast<int32_t>(batch.commands.size());
    for (size_t i = 0; i < batch.commands.size() && is_sound; i++) {
      is_sound = read[i].size() == batch.commands[i].into.size();
    }
    if (!is_sound) return failed(batch, talk_.give_up(Status::Lost, "its answer is malformed"));
    for (size_t i = 0; i < batch.commands.size(); i++) {
      const auto* bytes = reinterpret_cast<const std::byte*>(read[i].data());
      if (outcome->done[i].status != Status::Ok) continue;
      std::copy(bytes, bytes + read[i].size(), batch.commands[i].into.begin());
    }
    if (outcome->status == Status::Lost || outcome->status == Status::Timeout) {
      // Its device is gone, so it is of no more use.
      lose(std::string(talk_.give_up(outcome->status, outcome->why).message));
    }
    return *std::move(outcome);
  }

  Result<bool> restart() override {
    ASSAY_TRY(greeting, greet(talk_, options_));
    if (to_text(greeting.target) == to_text(target())) return true;
    return talk_.give_up(Status::Lost, "it came back as another device");
  }

 private:
  Error lost(const Error& error) {
    if (talk_.status() != Status::Ok) lose(error.message);
    return error;
  }

  // Nothing is known of any command.
  Outcome failed(const Batch& batch, const Error& error) {
    Outcome outcome;
    outcome.status = talk_.status() == Status::Ok ? Status::Fault : talk_.status();
    outcome.why = error.message;
    outcome.done.assign(batch.commands.size(), Done{outcome.status, 0, 0});
    if (talk_.status() != Status::Ok) lose(error.message);
    return outcome;
  }

  Talk talk_;
  OpenOptions options_;
  Target profile_;
  std::string driver_;
};

Result<std::unique_ptr<Device>> open_worker(std::string_view rest, const OpenOptions& options) {
  ASSAY_TRY(words, split_words(rest));
  Talk talk(std::move(words));
  ASSAY_TRY(greeting, greet(talk, options));
  return std::unique_ptr<Device>(new WorkerDevice(fmt::format("worker:{}", rest), std::move(talk),
                                                  std::move(greeting), options));
}

Result<std::vector<Listed>> list_workers(const OpenOptions&) {
  return std::vector<Listed>{
      {"worker:COMMAND", "the device of a child process, such as `assay worker`", std::nullopt}};
}

}  // namespace

const DeviceKind& worker_kind() {
  static constexpr DeviceKind kKind = {"worker", "devices of child processes", open_worker,
                                       list_workers};
  return kKind;
}

}  // namespace assay::runtime
