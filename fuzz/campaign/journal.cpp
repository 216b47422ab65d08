#include "fuzz/campaign/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "fuzz/campaign/whole_file.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

Result<bool> write_file(const fs::path& path, std::string_view text, bool is_executable) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Error{fmt::format("{} cannot be written", path.string())};
  std::error_code error;
  if (is_executable) fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add, error);
  return true;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace

Journal::~Journal() {
  if (records_ >= 0) close(records_);
  if (lock_ >= 0) close(lock_);
}

Result<std::vector<reports::Record>> Journal::open(const std::string& folder, bool resume) {
  folder_ = folder;
  std::error_code error;
  fs::create_directories(fs::path(folder) / "findings", error);
  if (!error) fs::create_directories(fs::path(folder) / "corpus", error);
  if (error) return Error{fmt::format("{}: {}", folder, error.message())};
  lock_ = ::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) return trouble(folder + "/lock");
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    return Error{fmt::format("{}: another campaign is writing there", folder)};
  }
  const std::string path = folder + "/records.jsonl";
  std::string text = text_of(path);
  if (!text.empty() && !resume) {
    return Error{fmt::format("{} holds a campaign: --resume goes on with it", folder)};
  }
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  ASSAY_TRY(records, reports::records_from(text));
  records_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (records_ < 0 || ftruncate(records_, static_cast<off_t>(text.size())) != 0) {
    return trouble(path);
  }
  return records;
}

Result<bool> Journal::add(const reports::Record& record) {
  return append(records_, folder_ + "/records.jsonl", reports::to_line(record));
}

Result<bool> Journal::write(const std::string& path, std::string_view text) {
  return replace_file(fmt::format("{}/{}", folder_, path), text);
}

Result<std::string> Journal::read(const std::string& path) const {
  const std::string from = fmt::format("{}/{}", folder_, path);
  if (!fs::exists(from)) return Error{fmt::format("{} is gone", from)};
  return text_of(from);
}

Result<bool> Journal::write_folder(const std::string& path, const std::vector<File>& files) {
  const fs::path to = fs::path(folder_) / path;
  const fs::path half = to.string() + ".part";
  std::error_code error;
  fs::remove_all(half, error);
  fs::create_directories(half, error);
  if (error) return Error{fmt::format("{}: {}", half.string(), error.message())};
  for (const File& file : files) {
    const Result<bool> written = write_file(half / file.name, file.text, file.is_executable);
    if (!written.ok()) return written.error();
  }
  fs::remove_all(to, error);
  fs::rename(half, to, error);
  if (error) return Error{fmt::format("{}: {}", to.string(), error.message())};
  return true;
}

}  // namespace assay::fuzz
