#include "fuzz/campaign/ahead.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "fuzz/campaign/whole_file.h"
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
  std::string text;
  for (const auto& [number, line] : lines_) text += line;
  const Result<bool> written = replace_file(path_, text);
  if (!written.ok()) return written.error();
  if (file_ >= 0) close(file_);
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) return trouble(path_);
  size_ = text.size();
  return true;
}

std::optional<Tried> Ahead::find(int64_t number, const SourcedCase& c) const {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(number);
  return found == lines_.end() ? std::nullopt : tried_from(found->second, c);
}

void Ahead::add(int64_t number, const Tried& tried) {
  std::string line = line_of(number, tried);
  const std::lock_guard lock(mutex_);
  const Result<bool> written = append(file_, path_, line);
  if (!written.ok() && !trouble_) trouble_ = written.error();
  size_ += line.size();
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
