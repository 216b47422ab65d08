#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/heap.h"
#include "fuzz/bench/contender.h"
#include "fuzz/bench/foreign.h"
#include "fuzz/bench/ours.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/programs.h"
#include "oracles/compare.h"
#include "oracles/median.h"
#include "oracles/reference/reference.h"
#include "oracles/target_licence.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;
using bench::Contender;
using bench::ForeignProgram;

constexpr const char* kPrograms = "corpus/bench";

struct Options {
  std::vector<std::string> programs;
  std::string against;
  std::vector<std::string> opts;
  DeviceOptions devices;
  int rounds = 31;
  bool kernels = false;
  bool json = false;
};

// Why the command stops, or what is wrong with one program, as its exit status has it.
struct Trouble {
  ExitCode code;
  std::string what;
};

// A program, and what it is timed against.
struct Case {
  std::string name;
  tensor::Program program;
  runtime::KernelLists lists;
  const ForeignProgram* foreign = nullptr;
};

// What came of a case. Times are medians of nanoseconds.
struct Row {
  std::string name;
  std::vector<const Contender*> contenders;  // ours, then the other where there is one
  std::vector<bench::Times> times;           // by contender
  std::vector<double> medians;
  int64_t operations = 0;
  int64_t bytes = 0;

  double ratio() const { return medians[0] / medians[1]; }
};

std::optional<Trouble> read_index(const std::string& folder, std::vector<ForeignProgram>& into) {
  const std::string path = (fs::path(folder) / "index.json").string();
  const Result<std::string> text = read_file(path);
  if (!text.ok()) return Trouble{kEnvironment, text.error().message};
  Result<std::vector<ForeignProgram>> programs = bench::foreign_programs(text.value());
  if (!programs.ok())
    return Trouble{kUsage, fmt::format("{}: {}", path, to_string(programs.error()))};
  into = std::move(programs).value();
  for (ForeignProgram& program : into) {
    for (bench::ForeignKernel& kernel : program.kernels) {
      const Result<std::string> source = read_file((fs::path(folder) / kernel.file).string());
      if (!source.ok()) return Trouble{kEnvironment, source.error().message};
      kernel.text = source.value();
    }
  }
  return std::nullopt;
}

// The files to time: those named, else those that the index has, else all that there are.
Result<std::vector<std::string>> files_of(const Options& options,
                                          const std::vector<ForeignProgram>& index) {
  if (!options.programs.empty()) return program_files(options.programs);
  if (options.against.empty()) return program_files({kPrograms});
  std::vector<std::string> files;
  for (const ForeignProgram& p : index) files.push_back(fmt::format("{}/{}.tp", kPrograms, p.name));
  return program_files(files);
}

std::optional<Trouble> read_case(const Options& options, const std::string& path,
                                 const std::vector<ForeignProgram>& index,
                                 std::vector<Case>& into) {
  Result<tensor::Program> program = read_program(path);
  if (!program.ok()) return Trouble{kUsage, fmt::format("{}:{}", path, to_string(program.error()))};
  if (const std::optional<Error> error = bench::timing_error(program.value())) {
    const std::string_view space = error->line == 0 ? " " : "";
    return Trouble{kUsage, fmt::format("{}:{}{}", path, space, to_string(*error))};
  }
  Result<runtime::KernelLists> lists = runtime::lists_from_text(options.opts);
  if (!lists.ok()) return Trouble{kUsage, "--opts: " + lists.error().message};
  lists = runtime::with_hints(std::move(lists).value(), program.value());
  if (!lists.ok()) return Trouble{kUsage, fmt::format("{}:{}", path, to_string(lists.error()))};
  Case made = {fs::path(path).stem().string(), std::move(program).value(), std::move(lists).value(),
               nullptr};
  if (!options.against.empty()) {
    const auto at = std::ranges::find(index, made.name, &ForeignProgram::name);
    if (at == index.end()) {
      std::vector<std::string> names;
      for (const ForeignProgram& p : index) names.push_back(p.name);
      return Trouble{kUsage,
                     fmt::format("{}/index.json has no program {}; it has {}", options.against,
                                 assay::quoted(made.name), fmt::join(names, ", "))};
    }
    made.foreign = &*at;
  }
  into.push_back(std::move(made));
  return std::nullopt;
}

// What a contender computes against what is right; nothing where it is.
std::optional<Trouble> judge(runtime::Device& device, const Contender& contender,
                             const reference::Array& expected, std::string_view whose) {
  const Result<std::vector<std::byte>> bytes = bench::compute(device, contender);
  if (!bytes.ok()) {
    return Trouble{kEnvironment, fmt::format("{}: {}", whose, to_string(bytes.error()))};
  }
  const oracles::Comparison c = oracles::compare(expected, bytes.value());
  if (c.agrees()) return std::nullopt;
  return Trouble{kFinding, fmt::format("FAIL: {}: {}", whose, oracles::to_text(c))};
}

double per_ns(int64_t amount, double ns) { return ns > 0 ? static_cast<double>(amount) / ns : 0; }

void print_heading(const Options& options) {
  if (options.json) return;
  const bool both = !options.against.empty();
  fmt::print("{:<22}{:>10}{:>9}{:>8}", "program", "us", "GFLOP/s", "GB/s");
  if (both) fmt::print("   |{:>10}{:>9}{:>8}   |{:>7}", "theirs us", "GFLOP/s", "GB/s", "ratio");
  fmt::print("\n");
}

void print_row(const Row& row) {
  fmt::print("{:<22}", row.name);
  for (size_t i = 0; i < row.medians.size(); ++i) {
    const double ns = row.medians[i];
    fmt::print("{}{:>10.1f}{:>9.2f}{:>8.2f}", i == 0 ? "" : "   |", ns / 1000,
               per_ns(row.operations, ns), per_ns(row.bytes, ns));
  }
  if (row.medians.size() == 2) fmt::print("   |{:>7.3f}", row.ratio());
  fmt::print("\n");
}

void print_kernels(const Row& row) {
  for (size_t i = 0; i < row.contenders.size(); ++i) {
    for (size_t k = 0; k < row.times[i].size(); ++k) {
      fmt::print("  {:<6}{:>14.1f}  {}\n", i == 0 ? "ours" : "theirs",
                 oracles::median(row.times[i][k]) / 1000, row.contenders[i]->names[k]);
    }
  }
}

void print_json(const Row& row) {
  nlohmann::ordered_json json;
  json["program"] = row.name;
  json["ns"] = row.medians[0];
  json["least_ns"] = bench::least_of_runs(row.times[0]);
  json["operations"] = row.operations;
  json["bytes"] = row.bytes;
  if (row.medians.size() == 2) {
    json["theirs_ns"] = row.medians[1];
    json["theirs_least_ns"] = bench::least_of_runs(row.times[1]);
    json["ratio"] = row.ratio();
  }
  fmt::print("{}\n", json.dump());
}

// Times a case and prints what came of it. The ratio, where there is one, is added to `ratios`.
std::optional<Trouble> time_case(const Options& options, const Case& c, runtime::Devices& devices,
                                 runtime::Device& device, std::vector<double>& ratios) {
  const Result<std::vector<reference::Array>> expected =
      reference::evaluate(c.program, oracles::licence_of(device.target()));
  if (!expected.ok()) return Trouble{kUsage, to_string(expected.error())};
  const auto ours = bench::Ours::make(c.program, c.lists, devices, device.name());
  if (!ours.ok()) {
    // A list from outside may be one that the kernel does not take.
    return Trouble{c.lists.empty() ? kFinding : kUsage,
                   fmt::format("FAIL: ours: {}", to_string(ours.error()))};
  }
  Row row;
  row.name = c.name;
  row.contenders.push_back(&ours.value()->contender());
  row.operations = ours.value()->operations();
  row.bytes = ours.value()->bytes();
  std::unique_ptr<bench::Foreign> foreign;
  if (c.foreign != nullptr) {
    auto& opencl = dynamic_cast<runtime::opencl::OpenclDevice&>(device);
    auto made = bench::Foreign::make(opencl, *c.foreign, ours.value()->inputs());
    if (!made.ok()) return Trouble{kUsage, fmt::format("theirs: {}", to_string(made.error()))};
    foreign = std::move(made).value();
    row.contenders.push_back(&foreign->contender());
  }
  for (size_t i = 0; i < row.contenders.size(); ++i) {
    const std::string_view whose = i == 0 ? "ours" : "theirs";
    auto wrong = judge(device, *row.contenders[i], expected.value()[0], whose);
    if (wrong) return wrong;
  }
  Result<std::vector<bench::Times>> times =
      bench::time_in_turn(device, row.contenders, options.rounds);
  if (!times.ok()) return Trouble{kEnvironment, to_string(times.error())};
  row.times = std::move(times).value();
  for (const bench::Times& t : row.times) row.medians.push_back(bench::median_of_runs(t));
  if (row.medians.size() == 2) ratios.push_back(row.ratio());
  if (options.json) {
    print_json(row);
    return std::nullopt;
  }
  print_row(row);
  if (options.kernels) print_kernels(row);
  return std::nullopt;
}

void print_mean(const Options& options, const std::vector<double>& ratios) {
  if (options.json || ratios.empty()) return;
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  fmt::print("{} programs: ratios at most {:.3f}, geometric mean {:.3f}\n", ratios.size(),
             *std::ranges::max_element(ratios), std::exp(sum / static_cast<double>(ratios.size())));
}

ExitCode stop(const Trouble& trouble) {
  fmt::print(stderr, "assay bench: {}\n", trouble.what);
  return trouble.code;
}

ExitCode time_all(const Options& options, const std::vector<Case>& cases, runtime::Devices& devices,
                  runtime::Device& device) {
  std::vector<double> ratios;
  ExitCode code = kClean;
  print_heading(options);
  for (const Case& c : cases) {
    const std::optional<Trouble> trouble = time_case(options, c, devices, device, ratios);
    if (!trouble) continue;
    std::fflush(stdout);
    fmt::print(stderr, "assay bench: {}: {}\n", c.name, trouble->what);
    // A finding weighs more than a case that could not be tried.
    if (code != kFinding) code = trouble->code;
    if (!device.lost().empty()) break;
  }
  print_mean(options, ratios);
  return code;
}

ExitCode run(const Options& options) {
  map_large_memory();
  std::vector<ForeignProgram> index;
  if (!options.against.empty()) {
    if (const auto trouble = read_index(options.against, index)) return stop(*trouble);
  }
  const Result<std::vector<std::string>> files = files_of(options, index);
  if (!files.ok()) return stop({kEnvironment, files.error().message});
  std::vector<Case> cases;
  for (const std::string& file : files.value()) {
    if (const auto trouble = read_case(options, file, index, cases)) return stop(*trouble);
  }
  Result<runtime::OpenOptions> how = options.devices.open_options();
  if (!how.ok()) return stop({kUsage, how.error().message});
  runtime::OpenOptions open = how.value();
  open.tuned = true;
  runtime::Devices devices(device_kinds(), open);
  const Result<runtime::Device*> device = devices.open(options.devices.device);
  if (!device.ok()) return stop({kEnvironment, device.error().message});
  const bool takes_text = dynamic_cast<runtime::opencl::OpenclDevice*>(device.value()) != nullptr;
  if (!options.against.empty() && !takes_text) {
    return stop({kUsage, fmt::format("{} takes no OpenCL text; --against wants a cl device",
                                     options.devices.device)});
  }
  return time_all(options, cases, devices, *device.value());
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->devices.device = "cl:pocl";
  app.add_option("PROGRAM", options->programs,
                 fmt::format(".tp files that compute one value, or folders of them; else those "
                             "that DIR names, of {0}, or all of {0}",
                             kPrograms));
  app.add_option("--against", options->against,
                 "time the OpenCL C in this folder in turn with ours, and judge both; its "
                 "index.json says what there is")
      ->type_name("DIR");
  app.add_option("--repeat", options->rounds,
                 "rounds of each, of 5 ms or of one run; times are medians over all runs of what "
                 "kernels take by the device's clock, without what it takes to launch them")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_flag("--kernels", options->kernels, "print the time of each kernel, and its opts");
  app.add_flag("--json", options->json, "print a line of JSON a program");
  add_opts(app, options->opts);
  add_device_options(app, options->devices);
  return [options] { return run(*options); };
}

}  // namespace

const Command& bench_command() {
  static constexpr Command kCommand = {
      "bench", "time programs on a device, also against kernels of someone else", declare};
  return kCommand;
}

}  // namespace assay::fuzz
