#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace CLI {
class App;
}

namespace assay::fuzz {

// What every command's exit status says.
enum ExitCode : uint8_t {
  kClean = 0,
  kFinding = 1,
  kUsage = 2,        // a wrong option, or input that is malformed
  kEnvironment = 3,  // a file, a device, standard output
  kUnknown = 4,      // nothing failed, and something could not be judged
  kInterrupted = 130,
};

// One subcommand of `assay`: a row of the table in assay.cpp.
struct Command {
  std::string_view name;
  std::string_view says;
  // Adds its options to `app` and returns what runs it once they are parsed.
  std::function<ExitCode()> (*declare)(CLI::App& app);
};

const Command& bench_command();
const Command& bisect_command();
const Command& check_command();
const Command& devices_command();
const Command& fuzz_command();
const Command& import_command();
const Command& prove_command();
const Command& report_command();
const Command& rules_command();
const Command& run_command();
const Command& score_command();
const Command& shrink_command();
const Command& simplify_command();
const Command& trial_command();
const Command& triage_command();
const Command& verify_command();
const Command& worker_command();

}  // namespace assay::fuzz
