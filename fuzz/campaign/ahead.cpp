#include "fuzz/campaign/ahead.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "fuzz/trial/json_line.h"
#include "fuzz/trial/outcome_text.h"

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

// What was folded is taken out of a file that has become so long.
constexpr size_t kLongest = size_t{1} << 20;

std::string line_of(int64_t number, const Tried& tried) {
  return json_line({{"number", number},
                    {"case", to_text(tried.c.what)},
                    {"ms", tried.ms},
                    {"rate", tried.rate},
                    {"on_sim", tried.on_sim},
                    {"outcome", to_text(tried.outcome)}}) +
         '\n';
}

// What a line says of the case; nothing where it speaks of another, or is none.
std::optional<Tried> tried_from(const std::string& line, const SourcedCase& c) {
  try {
    const Json j = Json::parse(line);
    if (j.at("case") != to_text(c.what)) return std::nullopt;
    Result<Outcome> outcome = outcome_from_text(j.at("outcome").get<std::string>());
    if (!outcome.ok()) return std::nullopt;
    return Tried{true, c, std::move(outcome).value(), j.at("ms"), j.at("rate"), j.at("on_sim")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Ahead::~Ahead() {
  if (file_ >= 0) close(file_);
}

Result<bool> Ahead::open(const std::string& path, int64_t next) {
  path_ = path;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const Json j = Json::parse(line, nullptr, false);
    if (!j.is_object() || !j.contains("number") || !j["number"].is_number_integer()) continue;
    const int64_t number = j["number"];
    if (number >= next) lines_[number] = line + '\n';
  }
  return begin_file();
}

// The file anew, of what is not folded.
Result<bool> Ahead::begin_file() {
  const std::string half = path_ + ".part";
  if (file_ >= 0) close(file_);
  file_ = ::open(half.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) return Error{fmt::format("{}: {}", half, std::strerror(errno))};
  size_ = 0;
  std::string text;
  for (const auto& [number, line] : lines_) text += line;
  write(text);
  if (trouble_) return *trouble_;
  std::error_code error;
  std::filesystem::rename(half, path_, error);
  if (error) return Error{fmt::format("{}: {}", path_, error.message())};
  return true;
}

void Ahead::write(const std::string& text) {
  size_ += text.size();
  const ssize_t written = ::write(file_, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()) || trouble_) return;
  trouble_ = Error{fmt::format("{}: {}", path_, std::strerror(written < 0 ? errno : ENOSPC))};
}

std::optional<Tried> Ahead::find(int64_t number, const SourcedCase& c) const {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(number);
  return found == lines_.end() ? std::nullopt : tried_from(found->second, c);
}

void Ahead::add(int64_t number, const Tried& tried) {
  std::string line = line_of(number, tried);
  const std::lock_guard lock(mutex_);
  write(line);
  lines_[number] = std::move(line);
}

Result<bool> Ahead::drop(int64_t number) {
  const std::lock_guard lock(mutex_);
  lines_.erase(number);
  if (!trouble_ && size_ > kLongest) return begin_file();
  if (trouble_) return *trouble_;
  return true;
}

void Ahead::end() {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  if (lines_.empty()) std::filesystem::remove(path_, error);
}

}  // namespace assay::fuzz
