#include "oracles/reference/storage.h"

#include <algorithm>
#include <span>
#include <utility>

namespace assay::reference {
namespace {

DType unsigned_of(size_t width) {
  if (width == 1) return uop::U8;
  if (width == 2) return uop::U16;
  return width == 4 ? uop::U32 : uop::U64;
}

size_t width_of(DType t) { return static_cast<size_t>(uop::bytes_of(t)); }

// A byte of an element, or why it is not known.
struct Byte {
  uint8_t value = 0;
  Certainty certainty = Certainty::Exact;
};

void take_apart(const Bounded& x, DType t, std::span<Byte> bytes) {
  const Bounded whole = bitcast(x, t, unsigned_of(bytes.size()));
  auto bits = static_cast<uint64_t>(whole.integer);
  for (Byte& byte : bytes) {
    byte = {static_cast<uint8_t>(bits), whole.certainty};
    bits >>= 8U;
  }
}

Bounded put_together(std::span<const Byte> bytes, DType t) {
  uint64_t bits = 0;
  bool is_ambiguous = false;
  for (size_t i = bytes.size(); i-- > 0;) {
    if (bytes[i].certainty == Certainty::Unspecified) return unspecified();
    is_ambiguous |= bytes[i].certainty == Certainty::Ambiguous;
    bits = bits << 8U | bytes[i].value;
  }
  return is_ambiguous ? ambiguous() : from_bits(t, bits);
}

std::vector<Byte> bytes_of(const Array& storage) {
  const size_t width = width_of(storage.dtype);
  std::vector<Byte> bytes(static_cast<size_t>(storage.elements.size()) * width);
  auto rest = std::span(bytes);
  for (const Bounded& x : storage.elements) {
    take_apart(x, storage.dtype, rest.first(width));
    rest = rest.subspan(width);
  }
  return bytes;
}

Elements read_bytes(const View& view, const Array& storage) {
  const std::vector<Byte> bytes = bytes_of(storage);
  const size_t width = width_of(view.dtype);
  std::vector<Byte> picked(width);
  return Elements::NullaryExpr(count(view.shape), [&](int64_t i) {
    const size_t first = static_cast<size_t>(i) * width;
    for (size_t b = 0; b < width; ++b) picked[b] = bytes[static_cast<size_t>(view.at[first + b])];
    return put_together(picked, view.dtype);
  });
}

void write_bytes(const View& view, Array& storage, const Elements& elements) {
  std::vector<Byte> bytes = bytes_of(storage);
  const size_t from = width_of(view.dtype);
  const size_t to = width_of(storage.dtype);
  std::vector<Byte> written(from);
  auto at = view.at.begin();
  for (const Bounded& x : elements) {
    take_apart(x, view.dtype, written);
    for (const Byte& byte : written) bytes[static_cast<size_t>(*at++)] = byte;
  }
  // An element that no byte was written to keeps the bound it has.
  std::vector<bool> touched(static_cast<size_t>(storage.elements.size()));
  for (const int64_t place : view.at) touched[static_cast<size_t>(place) / to] = true;
  for (size_t i = 0; i < touched.size(); ++i) {
    if (!touched[i]) continue;
    storage.elements[static_cast<int64_t>(i)] =
        put_together(std::span(bytes).subspan(i * to, to), storage.dtype);
  }
}

}  // namespace

View seen_through(const View& view, DType t, Seen seen) {
  const bool reshapes_bytes = uop::bits_of(seen.dtype) != uop::bits_of(view.dtype);
  View result{view.storage, seen.dtype, std::move(seen.shape), false, view.by_bytes, {}};
  const auto width = static_cast<int64_t>(view.by_bytes ? width_of(view.dtype) : 1);
  if (!seen.at) {
    result.at = view.is_whole ? steps(count(view.shape), 1) : view.at;
  } else {
    result.at.reserve(seen.at->size() * static_cast<size_t>(width));
    for (const int64_t place : *seen.at) {
      for (int64_t b = 0; b < width; ++b) {
        const int64_t inside = place * width + b;
        result.at.push_back(view.is_whole ? inside : view.at[static_cast<size_t>(inside)]);
      }
    }
  }
  if (!reshapes_bytes || view.by_bytes) return result;
  const auto stored = static_cast<int64_t>(width_of(t));
  std::vector<int64_t> bytes;
  bytes.reserve(result.at.size() * static_cast<size_t>(stored));
  for (const int64_t place : result.at) {
    for (int64_t b = 0; b < stored; ++b) bytes.push_back(place * stored + b);
  }
  result.at = std::move(bytes);
  result.by_bytes = true;
  return result;
}

Array read(const View& view, const Array& storage) {
  if (view.is_whole) return storage;
  if (view.by_bytes) return {view.dtype, view.shape, read_bytes(view, storage)};
  const auto elements = storage.elements(std::span(view.at));
  if (view.dtype == storage.dtype) return {view.dtype, view.shape, elements};
  return {view.dtype, view.shape, elements.unaryExpr([&](const Bounded& x) {
            return bitcast(x, storage.dtype, view.dtype);
          })};
}

void write(const View& view, Array& storage, Elements elements) {
  if (view.is_whole) {
    storage.elements = std::move(elements);
    return;
  }
  if (view.by_bytes) return write_bytes(view, storage, elements);
  if (view.dtype != storage.dtype) {
    for (Bounded& x : elements) x = bitcast(x, view.dtype, storage.dtype);
  }
  storage.elements(std::span(view.at)) = elements;
}

}  // namespace assay::reference
