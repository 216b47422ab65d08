#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/commit.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/fault_option.h"
#include "fuzz/commands/programs.h"
#include "oracles/smt/solver.h"

namespace assay::fuzz {
namespace {

struct Options {
  double minutes = 0;
  int64_t programs = 0;
  size_t jobs = 0;
  std::vector<std::string> devices = {"sim:0"};
  std::vector<std::string> corpus;
  std::string out = "campaign";
  uint64_t seed = 1;
  int64_t limit_ms = 20'000;
  std::string fault;
  bool resume = false;
  bool quiet = false;
};

std::atomic<bool> stopped = false;

// The first interrupt ends the campaign in order, a second one ends the process.
void stop(int signal) {
  stopped = true;
  std::signal(signal, SIG_DFL);
}

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay fuzz: {}\n", why);
  return code;
}

Result<std::vector<std::pair<std::string, Case>>> saved_cases(
    const std::vector<std::string>& corpus) {
  std::vector<std::pair<std::string, Case>> saved;
  if (corpus.empty()) return saved;
  ASSAY_TRY(files, program_files(corpus));
  for (const std::string& path : files) {
    if (is_kernel_file(path)) continue;
    ASSAY_TRY(text, read_file(path));
    Result<Case> c = case_from_text(text);
    // What is no program is for `check` to say.
    if (c.ok()) saved.emplace_back(path, std::move(c).value());
  }
  return saved;
}

std::string machine_text() {
  utsname name = {};
  uname(&name);
  return fmt::format("{} {}, {} processors", name.sysname, name.machine,
                     std::thread::hardware_concurrency());
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// What each device says of itself, and the types in which it computes; an error names one that is
// not there.
struct DevicesSaid {
  std::vector<std::string> drivers;
  std::vector<uop::TypeSet> types;
};
Result<DevicesSaid> ask_devices(const std::vector<std::string>& names) {
  DevicesSaid said;
  for (const std::string& name : names) {
    ASSAY_TRY(device, runtime::open_device(device_kinds(), name));
    said.drivers.push_back(fmt::format("{}: {}", name, device->target().name));
    said.types.push_back(device->target().arithmetic);
  }
  return said;
}

// Where the time goes, the largest shares first.
std::string shares_text(const reports::Counts& spent) {
  int64_t all = 0;
  std::vector<std::pair<int64_t, std::string>> parts;
  for (const auto& [part, us] : spent) {
    all += us;
    parts.emplace_back(us, part);
  }
  std::ranges::sort(parts, std::greater<>());
  std::string text;
  for (const auto& [us, part] : parts) {
    const double share =
        100.0 * static_cast<double>(us) / static_cast<double>(std::max<int64_t>(1, all));
    if (share >= 0.5) text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", part, share);
  }
  return text;
}

class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : quiet_(quiet), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  void show(const Progress& p) {
    const double every = is_terminal_ ? 0.5 : 10;
    if (quiet_ || p.seconds < last_ + every) return;
    last_ = p.seconds;
    fmt::print(stderr, "{}{}{}", is_terminal_ ? "\r" : "", text(p), is_terminal_ ? "  " : "\n");
  }
  void end() const {
    if (is_terminal_ && !quiet_ && last_ > 0) fmt::print(stderr, "\n");
  }
  static std::string text(const Progress& p) {
    const double share =
        p.kernels == 0 ? 0
                       : 100.0 * static_cast<double>(p.sharing) / static_cast<double>(p.kernels);
    return fmt::format(
        "{} cases ({} of {} saved), {:.0f}/s, {} causes in {} failures, {} flaky, {} unknown, "
        "{} of {} rules, {} features, {} kept, {:.0f} % of kernels with LOCAL and a barrier",
        p.cases, p.replayed, p.to_replay,
        p.seconds > 0 ? static_cast<double>(p.cases - p.before) / p.seconds : 0.0, p.causes,
        p.failed, p.flaky, p.unknown, p.rules, p.all_rules, p.features, p.kept, share);
  }

 private:
  bool quiet_;
  bool is_terminal_;
  double last_ = 0;
};

ExitCode run(const Options& options) {
  Result<std::vector<std::pair<std::string, Case>>> saved = saved_cases(options.corpus);
  if (!saved.ok()) return fail(saved.error().message, kEnvironment);
  const Result<DevicesSaid> devices = ask_devices(options.devices);
  if (!devices.ok()) return fail(devices.error().message, kEnvironment);
  uop::Switches switches;
  const Result<std::unique_ptr<Planted>> fault = plant(options.fault, switches);
  if (!fault.ok()) return fail(fault.error().message, kUsage);
  CampaignOptions how;
  how.source.devices = options.devices;
  how.source.types = devices.value().types;
  how.source.seed = options.seed;
  how.saved = std::move(saved).value();
  how.out = options.out;
  how.programs = options.programs;
  how.minutes = options.minutes == 0 && options.programs == 0 ? 5 : options.minutes;
  how.jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  how.resume = options.resume;
  how.limit_ms = options.limit_ms;
  how.child = {"/proc/self/exe", "trial", "--serve"};
  if (!options.fault.empty()) {
    how.child.insert(how.child.end(), {"--fault", options.fault});
    how.trial += " --fault " + options.fault;
  }
  how.begin.commit = engine_commit();
  how.begin.solver = smt::solver_versions();
  how.begin.devices = options.devices;
  how.begin.drivers = devices.value().drivers;
  how.begin.seed = options.seed;
  how.begin.corpus = fmt::format("{}", fmt::join(options.corpus, " "));
  how.begin.machine = machine_text();
  how.begin.time = time_text();
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  Campaign campaign(std::move(how));
  ProgressLine line(options.quiet);
  const Result<reports::End> end = campaign.run(stopped, [&](const Progress& p) { line.show(p); });
  line.end();
  if (!end.ok()) return fail(to_string(end.error()), kEnvironment);
  const Progress& p = campaign.progress();
  fmt::print("{}\ntime: {}\ndigest {}\nrecords {}/records.jsonl\n", ProgressLine::text(p),
             shares_text(p.spent), end.value().digest, options.out);
  if (end.value().is_interrupted) return kInterrupted;
  if (p.causes != 0) return kFinding;
  return p.flaky != 0 ? kUnknown : kClean;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--minutes", options->minutes, "end after so many (5 where nothing is said)")
      ->check(CLI::PositiveNumber);
  app.add_option("--programs", options->programs, "end after so many cases")
      ->check(CLI::PositiveNumber);
  app.add_option("--jobs", options->jobs, "processes; as many as the machine has processors")
      ->check(CLI::Range(1, 1024));
  app.add_option("--device", options->devices,
                 "a device; again for others, which get one case in 48 and each saved program")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--corpus", options->corpus, "saved programs, which come first")->type_name("DIR");
  app.add_option("--out", options->out, "the folder of the campaign")->type_name("DIR");
  app.add_option("--seed", options->seed, "of all that is random");
  app.add_option("--time-limit", options->limit_ms, "of one case, in ms of the processor")
      ->type_name("MS");
  add_fault(app, options->fault);
  app.add_flag("--resume", options->resume, "go on with the campaign of that folder");
  app.add_flag("--quiet", options->quiet, "no progress");
  return [options] { return run(*options); };
}

}  // namespace

const Command& fuzz_command() {
  static constexpr Command kCommand = {
      "fuzz", "try saved, random and mutated programs with every judge, and write down what fails",
      declare};
  return kCommand;
}

}  // namespace assay::fuzz
