#include <cstddef>
#include <cstdint>

#include "fuzz/targets/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);  // NOLINT
extern "C" const char* __lsan_default_suppressions();                     // NOLINT
extern "C" const char* __lsan_default_options();                          // NOLINT

// The name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT
  assay::fuzz::one_case({reinterpret_cast<const char*>(data), size});
  return 0;
}

// What libraries keep until a process ends: libcln, which cvc5 links, does so as it is loaded. With
// -fork and -merge each process would be taken for one that failed.
extern "C" const char* __lsan_default_suppressions() { return "leak:libcln\n"; }    // NOLINT
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }  // NOLINT
