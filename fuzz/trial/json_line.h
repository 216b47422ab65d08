#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace assay::fuzz {

// One line, without its end. Evidence may quote bytes that are no text.
inline std::string json_line(const nlohmann::ordered_json& j) {
  return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace assay::fuzz
