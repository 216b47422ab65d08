#include "oracles/workgroup/sim.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/uop/text.h"

namespace assay::workgroup {
namespace {

using runtime::Batch;
using runtime::Command;
using runtime::Device;
using runtime::KernelId;
using runtime::Outcome;
using runtime::Status;
using runtime::StorageId;

using Ints = std::vector<int32_t>;

// out[i] = in[i] + 1 of four elements.
constexpr std::string_view kIncrement = R"(uop 1 linear
%n = const i32 4
%p = param i32 %n {0}
%q = param i32 %n {1}
%l = special i32 %n {"lidx0"}
%from = index i32 %q %l
%x = load i32 %from
%one = const i32 1
%y = add i32 %x %one
%to = index i32 %p %l
%s = store void %to %y
%k = linear void %n %p %q %l %from %x %one %y %to %s {"increment"}
)";
// All store to element 0.
constexpr std::string_view kRacy = R"(uop 1 linear
%n = const i32 4
%p = param i32 %n {0}
%l = special i32 %n {"lidx0"}
%zero = const i32 0
%to = index i32 %p %zero
%s = store void %to %l
%k = linear void %n %p %l %zero %to %s {"racy"}
)";
constexpr std::string_view kLong = R"(uop 1 linear
%n = const i64 1000000000000
%q = range i64 %n {0 loop}
%x = add i64 %q %q
%e = end i64 %x %q
%k = linear void %n %q %x %e {"long"}
)";

std::span<const std::byte> bytes(const Ints& x) { return std::as_bytes(std::span(x)); }

// A device with storage of four numbers each.
class Simulated {
 public:
  explicit Simulated(SimOptions options = {}) : device(make_sim(std::move(options))) {}

  StorageId storage() { return device->allocate(16, "x").value(); }
  KernelId kernel(std::string_view text) {
    uop::Graph g;
    const auto parsed = uop::from_text(g, text);
    EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
    const uop::Ref linear = parsed.value().root;
    auto built = device->build(g, {&linear, 1});
    EXPECT_TRUE(built[0].ok());
    return built[0].value();
  }
  static Command write(StorageId to, const Ints& from) {
    Command c;
    c.kind = Command::Kind::Write;
    c.views = {{to, 0, 16}};
    c.from = bytes(from);
    return c;
  }
  static Command read(StorageId from, Ints& into) {
    Command c;
    c.kind = Command::Kind::Read;
    c.views = {{from, 0, 16}};
    c.into = std::as_writable_bytes(std::span(into));
    return c;
  }
  static Command launch(KernelId kernel, std::vector<StorageId> storages) {
    Command c;
    c.kernel = kernel;
    for (const StorageId s : storages) c.views.push_back({s, 0, 16});
    return c;
  }
  static Command waiting(Command c, std::vector<int32_t> waits) {
    c.waits = std::move(waits);
    return c;
  }
  Outcome run(std::vector<Command> commands, int64_t limit_ms = 0) {
    Batch batch;
    batch.commands = std::move(commands);
    batch.limit_ms = limit_ms;
    auto outcome = device->run(std::move(batch));
    EXPECT_TRUE(outcome.ok());
    return std::move(outcome).value();
  }

  std::unique_ptr<Device> device;
};

TEST(Sim, IsWhatItsTargetSays) { EXPECT_EQ(uop::target_error(sim_target()), std::nullopt); }

TEST(Sim, RunsABatch) {
  for (const bool is_random : {false, true}) {
    SimOptions options;
    options.is_random = is_random;
    Simulated sim(options);
    const StorageId a = sim.storage();
    const StorageId b = sim.storage();
    const KernelId k = sim.kernel(kIncrement);
    const Ints in = {1, 2, 3, 4};
    Ints out(4);
    const Outcome o =
        sim.run({Simulated::write(a, in), sim.waiting(sim.launch(k, {b, a}), {0}),
                 sim.waiting(sim.launch(k, {a, b}), {0, 1}), sim.waiting(sim.read(a, out), {2})});
    EXPECT_EQ(o.status, Status::Ok) << o.why;
    EXPECT_EQ(out, (Ints{3, 4, 5, 6}));
  }
}

TEST(Sim, FindsKernelsThatRace) {
  Simulated sim;
  const StorageId a = sim.storage();
  Ints out(4);
  const Outcome o = sim.run(
      {sim.launch(sim.kernel(kRacy), {a}), Simulated::waiting(Simulated::read(a, out), {0})});
  EXPECT_EQ(o.status, Status::Fault);
  EXPECT_EQ(o.command, 0);
  EXPECT_EQ(o.done[1].status, Status::Fault);
  EXPECT_EQ(
      o.why,
      "kernel racy: race at global 0[0] of 4: %5 = store by item (0, 0, 0) of group (0, 0, "
      "0) and %5 = store by item (1, 0, 0) of group (0, 0, 0), with nothing between them that "
      "orders GLOBAL storage (3 times); the memory contract has barriers reached by the "
      "group, in loops where all take the same way, in branches where all take the same way "
      "(lockstep)");
}

TEST(Sim, FindsReadsOfWhatNobodyWrote) {
  Simulated sim;
  const StorageId a = sim.storage();
  const StorageId b = sim.storage();
  const Outcome o = sim.run({sim.launch(sim.kernel(kIncrement), {b, a})});
  EXPECT_EQ(o.status, Status::Fault);
  EXPECT_NE(o.why.find("uninitialised at global 1[0] of 4: %5 = load"), std::string::npos) << o.why;
}

TEST(Sim, KnowsWhatALaunchAndACopyWrote) {
  Simulated sim;
  const StorageId a = sim.storage();
  const StorageId b = sim.storage();
  const StorageId c = sim.storage();
  const KernelId k = sim.kernel(kIncrement);
  Command copy;
  copy.kind = Command::Kind::Copy;
  copy.views = {{c, 0, 16}, {b, 0, 16}};
  copy.waits = {1};
  Ints out(4);
  const Ints in = {1, 2, 3, 4};
  const Outcome o =
      sim.run({sim.write(a, in), sim.waiting(sim.launch(k, {b, a}), {0}), copy,
               sim.waiting(sim.launch(k, {a, c}), {1, 2}), sim.waiting(sim.read(a, out), {3})});
  EXPECT_EQ(o.status, Status::Ok) << o.why;
  EXPECT_EQ(out, (Ints{3, 4, 5, 6}));
}

TEST(Sim, FindsCommandsThatDoNotWait) {
  Simulated sim;
  const StorageId a = sim.storage();
  const StorageId b = sim.storage();
  const Ints in = {1, 2, 3, 4};
  const Outcome o = sim.run({sim.write(a, in), sim.launch(sim.kernel(kIncrement), {b, a})});
  EXPECT_EQ(o.status, Status::Fault);
  EXPECT_EQ(o.why, "commands 0 and 1 touch the same bytes and neither waits");
}

TEST(Sim, StopsWhatTakesTooLong) {
  Simulated sim;
  const Outcome o = sim.run({sim.launch(sim.kernel(kLong), {})}, 10);
  EXPECT_EQ(o.status, Status::Timeout);
  EXPECT_EQ(o.why, "kernel long: takes more than 1000000 node executions");
}

TEST(Sim, RefusesLaunchesPastItsTarget) {
  SimOptions options;
  options.target.limits.group_size = 2;
  Simulated sim(options);
  const StorageId a = sim.storage();
  const Outcome o = sim.run({sim.launch(sim.kernel(kRacy), {a})});
  EXPECT_EQ(o.status, Status::Fault);
  EXPECT_EQ(o.why, "kernel racy: groups of 4 work-items when the target allows 2");
}

TEST(Sim, IsOpenedByName) {
  const runtime::DeviceKind* const kinds[] = {&sim_kind()};
  for (const std::string_view name :
       {"sim:0", "sim:12", "sim:random", "sim:adversary", "sim:adversary3"}) {
    const auto device = runtime::open_device(kinds, name);
    ASSERT_TRUE(device.ok()) << device.error().message;
    EXPECT_EQ(device.value()->name(), name);
  }
  const auto device = runtime::open_device(kinds, "sim:fast");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().message,
            "no simulated device is named 'fast'; there are 0, random, adversary");
}

}  // namespace
}  // namespace assay::workgroup
