#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace assay {

[[noreturn]] inline void check_failed(const char* file, int line, const char* claim,
                                      const std::string& message) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, claim,
               message.empty() ? "" : ": ", message.c_str());
  std::abort();
}

}  // namespace assay

// Aborts in every build when an invariant of our own code is broken. Trouble from outside (files,
// devices, users) is a Result instead.
#define ASSAY_CHECK(claim, ...)                                                   \
  do {                                                                            \
    if (claim) [[likely]] {                                                       \
    } else {                                                                      \
      ::assay::check_failed(__FILE__, __LINE__, #claim,                           \
                            std::string() __VA_OPT__(+fmt::format(__VA_ARGS__))); \
    }                                                                             \
  } while (false)
