#pragma once

#include <malloc.h>

namespace assay {

// Memory that is freed stays with the process. Graphs come and go by the megabyte, and to give each
// back to the system and have it mapped again takes several times as long as the work on it.
inline void keep_memory() {
  constexpr int kMebibyte = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 512 * kMebibyte);
  mallopt(M_TRIM_THRESHOLD, 512 * kMebibyte);
  mallopt(M_TOP_PAD, 64 * kMebibyte);
}

// But for what is larger than this many bytes, which is mapped anew each time: where its pages lie
// then does not depend on what the process did before.
inline void map_large_memory(int bytes = 1 << 20) { mallopt(M_MMAP_THRESHOLD, bytes); }

}  // namespace assay
