#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/device.h"
#include "engine/runtime/devices.h"

namespace assay::runtime {

// A device of tests: kernels are functions by name, storage is memory, and a batch runs in an order
// that its waits allow and that nobody would expect.
class FakeDevice : public Device {
 public:
  using Bytes = std::span<std::byte>;
  using Function = std::function<void(std::span<const Bytes>)>;

  static Target sample_target(std::string name) {
    Target t = uop::generic_target();
    t.name = std::move(name);
    return t;
  }
  explicit FakeDevice(std::string name) : FakeDevice(name, sample_target(name)) {}
  FakeDevice(std::string name, Target target) : Device(std::move(name), std::move(target)) {}

  // What most tests call: one (p0 = 1), inc (p0 = p1 + 1) and twice (p0 = 2 p1), of floats.
  void add_functions() {
    functions["one"] = [](auto x) { for_each_value(x, [](float) { return 1.0F; }); };
    functions["inc"] = [](auto x) { for_each_value(x, [](float v) { return v + 1; }); };
    functions["twice"] = [](auto x) { for_each_value(x, [](float v) { return 2 * v; }); };
  }
  static void for_each_value(std::span<const Bytes> a, const std::function<float(float)>& f) {
    std::vector<float> values(a[0].size() / sizeof(float));
    std::memcpy(values.data(), a.back().data(), a[0].size());
    for (float& v : values) v = f(v);
    std::memcpy(a[0].data(), values.data(), a[0].size());
  }

  std::map<std::string, Function, std::less<>> functions;
  std::string fails;             // the kernel that does not end well
  Status how = Status::Fault;    // in what way
  uint64_t seed = 0;             // of the order; 0 is as late as possible first
  std::vector<std::string> log;  // what ran, in order
  size_t batches = 0;
  size_t in_flight = 0;           // how many other devices worked when the last batch began
  static inline size_t busy = 0;  // devices with a batch
  std::map<uint32_t, std::vector<std::byte>> memory;
  int64_t room = 1 << 20;  // bytes that it has

 protected:
  Result<bool> make_storage(uint32_t number, int64_t bytes) override {
    if (live_bytes() + bytes > room) return Error{"no room", 0, 0};
    memory[number].assign(static_cast<size_t>(bytes), std::byte{0xA5});
    return true;
  }
  void drop_storage(uint32_t number) override { memory.erase(number); }
  std::vector<Result<bool>> make_kernels(Graph&, std::span<const Ref> linears,
                                         std::span<const uint32_t> numbers, uop::Watch*) override {
    std::vector<Result<bool>> made;
    for (size_t i = 0; i < linears.size(); i++) {
      if (functions.contains(signature_at(numbers[i]).name)) {
        made.emplace_back(true);
      } else {
        made.emplace_back(Error{"no such function", 0, 0});
      }
    }
    return made;
  }
  void drop_kernel(uint32_t) override {}
  Result<bool> start(const Batch&) override {
    in_flight = busy++;
    batches++;
    return true;
  }

  Outcome complete(const Batch& batch) override {
    busy--;
    Outcome outcome;
    outcome.done.resize(batch.commands.size());
    std::vector<bool> ran(batch.commands.size(), false);
    std::mt19937_64 random(seed);
    for (size_t k = 0; k < batch.commands.size(); k++) {
      const size_t next = choose(batch, ran, random);
      ran[next] = true;
      const Command& c = batch.commands[next];
      for (const int32_t wait : c.waits) {
        if (batch.commands[static_cast<size_t>(wait)].lane != c.lane) outcome.queue_waits++;
      }
      outcome.done[next] = {outcome.status == Status::Ok ? run_one(c) : outcome.status, 0, 0};
      if (outcome.status != Status::Ok || outcome.done[next].status == Status::Ok) continue;
      outcome.status = outcome.done[next].status;
      outcome.command = static_cast<int32_t>(next);
      outcome.why = "as it was told";
    }
    return outcome;
  }

 private:
  static size_t choose(const Batch& batch, const std::vector<bool>& ran, std::mt19937_64& random) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < ran.size(); i++) {
      bool waits = ran[i];
      for (const int32_t w : batch.commands[i].waits) waits = waits || !ran[static_cast<size_t>(w)];
      if (!waits) ready.push_back(i);
    }
    return random() == std::mt19937_64(0)() ? ready.back() : ready[random() % ready.size()];
  }

  Bytes bytes_of(const View& v) {
    return Bytes(memory.at(v.storage.number))
        .subspan(static_cast<size_t>(v.offset), static_cast<size_t>(v.bytes));
  }

  Status run_one(const Command& c) {
    switch (c.kind) {
      case Command::Kind::Launch: {
        const std::string& name = signature_at(c.kernel.number).name;
        log.push_back(name);
        if (name == fails) return how;
        std::vector<Bytes> arguments;
        for (const View& v : c.views) arguments.push_back(bytes_of(v));
        functions.at(name)(arguments);
        return Status::Ok;
      }
      case Command::Kind::Copy:
        std::memcpy(bytes_of(c.views[0]).data(), bytes_of(c.views[1]).data(),
                    bytes_of(c.views[0]).size());
        return Status::Ok;
      case Command::Kind::Read:
        log.emplace_back("read");
        std::memcpy(c.into.data(), bytes_of(c.views[0]).data(), c.into.size());
        return Status::Ok;
      case Command::Kind::Write:
        log.emplace_back("write");
        std::memcpy(bytes_of(c.views[0]).data(), c.from.data(), c.from.size());
        return Status::Ok;
      case Command::Kind::Fill:
        std::memset(bytes_of(c.views[0]).data(), c.byte, bytes_of(c.views[0]).size());
        return Status::Ok;
    }
    return Status::Fault;
  }
};

}  // namespace assay::runtime
