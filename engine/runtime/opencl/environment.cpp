#include "engine/runtime/opencl/environment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace assay::runtime::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVendors = "/etc/OpenCL/vendors";
constexpr std::string_view kFolder = "assay-";  // how our temporary folders begin
constexpr const char* kLinker = "/usr/bin/ld";
// PoCL links each kernel, at its first run, against libraries of the system, which takes longer
// than to compile it. What a kernel needs of these is in this process already.
constexpr std::string_view kQuickLinker = R"(#!/bin/sh
for word; do
  shift
  case $word in
    -lc | -lm | -lgcc_s) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec /usr/bin/ld "$@"
)";
constexpr std::string_view kOclgrind = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

struct State {
  std::string folder;
  pid_t owner = 0;  // who removes it; 0 where it stays
  std::streamoff log_read = 0;

  ~State() {
    std::error_code ignored;
    if (owner != 0 && owner == getpid()) fs::remove_all(folder, ignored);
  }
};

State& state() {
  static State kept;
  return kept;
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 0); }

bool try_lock(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

// Holds a folder for as long as this process lives. The file has its name only once it is locked.
void hold(const fs::path& folder) {
  const fs::path begun = folder / "lock.new";
  const int file = open(begun.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  std::error_code ignored;
  if (file >= 0 && try_lock(file)) fs::rename(begun, folder / "lock", ignored);
}

// Removes the folders of processes that could not do so themselves: a worker that was killed.
void remove_orphans(const fs::path& temporary) {
  std::error_code error;
  std::error_code ignored;
  for (fs::directory_iterator at(temporary, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(kFolder)) continue;
    const int file = open((at->path() / "lock").c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) continue;
    if (try_lock(file)) fs::remove_all(at->path(), ignored);
    close(file);
  }
}

Result<std::string> own_folder() {
  std::error_code error;
  fs::path temporary = fs::temp_directory_path(error);
  if (error) temporary = "/tmp";
  remove_orphans(temporary);
  std::string pattern = temporary / fmt::format("{}XXXXXX", kFolder);
  if (mkdtemp(pattern.data()) == nullptr) {
    return Error{fmt::format("no folder {} can be made", pattern), 0, 0};
  }
  hold(pattern);
  return pattern;
}

// A folder of .icd files, each a line that names a library.
void list_vendors(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (fs::directory_iterator at(kVendors, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->path().extension() != ".icd") continue;
    if (name.starts_with("mesa") || name.starts_with("rusticl")) continue;
    std::error_code ignored;
    fs::copy_file(at->path(), folder / name, fs::copy_options::overwrite_existing, ignored);
  }
  if (fs::exists(kOclgrind, error)) std::ofstream(folder / "oclgrind.icd") << kOclgrind << '\n';
}

// A folder with a linker, for whoever looks for one there first.
void make_linker(const fs::path& folder) {
  if (access(kLinker, X_OK) != 0) return;
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path linker = folder / "ld";
  // Others may run it while it is written.
  const fs::path unfinished = folder / fmt::format("ld.{}", getpid());
  if (!(std::ofstream(unfinished) << kQuickLinker)) return;
  fs::permissions(unfinished, fs::perms::owner_all, error);
  if (!error) fs::rename(unfinished, linker, error);
  if (!error) set("COMPILER_PATH", folder.string());
}

}  // namespace

Result<bool> prepare_environment(const std::string& cache) {
  State& s = state();
  if (!s.folder.empty()) return true;
  std::string folder = cache;
  if (folder.empty()) {
    ASSAY_TRY(own, own_folder());
    folder = own;
    s.owner = getpid();
  }
  std::error_code error;
  folder = fs::absolute(folder, error).string();
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error)) {
    return Error{fmt::format("{} is no folder that can be made", folder), 0, 0};
  }
  s.folder = folder;
  list_vendors(fs::path(folder) / "vendors");
  const fs::path log = fs::path(folder) / fmt::format("oclgrind-{}.log", getpid());
  fs::remove(log, error);
  make_linker(fs::path(folder) / "linker");
  set("POCL_CACHE_DIR", folder + "/pocl");
  set("POCL_DEVICES", "pthread pthread basic basic");
  set("POCL_SIGFPE_HANDLER", "0");
  set("OCL_ICD_VENDORS", folder + "/vendors");
  set("OCLGRIND_LOG", log.string());
  set("OCLGRIND_DATA_RACES", "1");
  set("OCLGRIND_UNIFORM_WRITES", "1");
  set("OCLGRIND_MAX_ERRORS", "100");
  return true;
}

const std::string& cache_folder() { return state().folder; }

std::string oclgrind_findings() {
  State& s = state();
  const char* path = std::getenv("OCLGRIND_LOG");
  std::ifstream log(path == nullptr ? "" : path, std::ios::binary);
  if (!log) return "";
  log.seekg(s.log_read);
  std::string text{std::istreambuf_iterator<char>(log), {}};
  s.log_read += static_cast<std::streamoff>(text.size());
  return text;
}

void oclgrind_begins_anew() { state().log_read = 0; }

}  // namespace assay::runtime::opencl
