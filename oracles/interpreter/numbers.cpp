#include "oracles/interpreter/numbers.h"

namespace assay::interpreter {

void decode(DType t, const std::byte* from, Slot* to, int64_t n) {
  with_codec(t, [&]<typename Codec>(Codec) {
    for (int64_t i = 0; i < n; i++) to[i] = load<Codec>(from, i);
  });
}

void encode(DType t, const Slot* from, std::byte* to, int64_t n) {
  with_codec(t, [&]<typename Codec>(Codec) {
    for (int64_t i = 0; i < n; i++) store<Codec>(to, i, from[i]);
  });
}

void fill_poison(DType t, std::byte* to, int64_t n) {
  if (n == 0) return;
  if (!uop::is_float(t)) {
    const auto byte = static_cast<int>(poison_now.bits & 0xFF);
    std::memset(to, byte, static_cast<size_t>(n * uop::bytes_of(t)));
    return;
  }
  with_float_codec(t, [&]<typename Codec>(Codec) {
    for (int64_t i = 0; i < n; i++) store<Codec>(to, i, poison_now.number);
  });
}

}  // namespace assay::interpreter
