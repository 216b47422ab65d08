#pragma once

#ifdef ASSAY_MIMALLOC
#include <mimalloc.h>
#else
#include <malloc.h>
#endif

namespace assay {

// Memory that is freed stays with the process. Graphs come and go by the megabyte, and to give each
// back to the system and have it mapped again takes several times as long as the work on it.
inline void keep_memory() {
#ifdef ASSAY_MIMALLOC
  mi_option_disable(mi_option_allow_decommit);
#else
  constexpr int kMebibyte = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 512 * kMebibyte);
  mallopt(M_TRIM_THRESHOLD, 512 * kMebibyte);
  mallopt(M_TOP_PAD, 64 * kMebibyte);
#endif
}

// Large memory that is freed goes back at once, so that what is large has new pages each time,
// whatever the process did before.
inline void map_large_memory() {
#ifdef ASSAY_MIMALLOC
  mi_option_enable(mi_option_allow_decommit);
  mi_option_set(mi_option_decommit_delay, 0);
#else
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace assay
