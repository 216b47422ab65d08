#include "fuzz/targets/mutator.h"

#include <cstring>

// The names and types are libFuzzer's.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,  // NOLINT
                                          unsigned int seed);
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size,  // NOLINT
                                            const uint8_t* b, size_t b_size, uint8_t* out,
                                            size_t max_size, unsigned int seed);

namespace {

std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

size_t put(const std::string& text, uint8_t* out) {
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,  // NOLINT
                                          unsigned int seed) {
  return put(
      assay::fuzz::mutated_text(assay::fuzz::target_mutator(), text_of(data, size), seed, max_size),
      data);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size,  // NOLINT
                                            const uint8_t* b, size_t b_size, uint8_t* out,
                                            size_t max_size, unsigned int seed) {
  return put(assay::fuzz::crossed_text(assay::fuzz::target_mutator(), text_of(a, a_size),
                                       text_of(b, b_size), seed, max_size),
             out);
}
