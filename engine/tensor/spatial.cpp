#include "engine/tensor/spatial.h"

#include <fmt/format.h>

namespace assay::tensor {
namespace {

// The numbers of an attribute, one for each window.
Result<std::vector<int64_t>> numbers(const Building& b, std::string_view name, size_t count) {
  std::vector<int64_t> found;
  for (const Ref size : b.dims(name)) {
    ASSAY_TRY(n, number_of(b, name, size));
    found.push_back(n);
  }
  if (found.size() == count) return found;
  return Error{fmt::format("{} has a {} of {} numbers for {} axes", b.row().text, name,
                           found.size(), count)};
}

}  // namespace

Result<int64_t> number_of(const Building& b, std::string_view name, Ref size, int64_t least) {
  if (!is_const(size)) {
    return Error{fmt::format("{} takes a number as {}; it is {}", b.row().text, name,
                             uop::shape_text({&size, 1}))};
  }
  const auto n = static_cast<int64_t>(size->arg.bits);
  if (n >= least) return n;
  return Error{fmt::format("{} takes a {} of {} or more; it is {}", b.row().text, name, least, n)};
}

Result<Spatial> spatial(const Building& b, const std::vector<int64_t>& sizes, Stride fallback) {
  Spatial s;
  for (const int64_t size : sizes) {
    s.windows.push_back({size, fallback == Stride::One ? 1 : size, 1});
  }
  if (b.has("stride")) {
    ASSAY_TRY(strides, numbers(b, "stride", sizes.size()));
    for (size_t i = 0; i < sizes.size(); i++) s.windows[i].stride = strides[i];
  }
  if (b.has("dilation")) {
    ASSAY_TRY(dilations, numbers(b, "dilation", sizes.size()));
    for (size_t i = 0; i < sizes.size(); i++) s.windows[i].dilation = dilations[i];
  }
  const Dim zero = {&b.g, uop::dim(b.g, 0)};
  s.low.assign(sizes.size(), zero);
  s.high.assign(sizes.size(), zero);
  if (!b.has("padding")) return s;
  const std::vector<Ref> padding = b.dims("padding");
  if (padding.size() != 2 * sizes.size()) {
    return Error{fmt::format("{} has a padding of {} numbers for {} axes", b.row().text,
                             padding.size(), sizes.size())};
  }
  for (size_t i = 0; i < sizes.size(); i++) {
    s.low[i] = {&b.g, padding[2 * i]};
    s.high[i] = {&b.g, padding[2 * i + 1]};
  }
  return s;
}

Result<bool> fits(const Building& b, Dim n, const Window& window) {
  if (!is_beyond(n.of(window.extent()), n)) return true;
  return Error{fmt::format("{} has a window of {} in an axis of {}", b.row().text, window.extent(),
                           text_of(n))};
}

Result<Term> all_windows(const Building& b, Term x, int64_t axis,
                         const std::vector<Window>& windows) {
  for (const Window& w : windows) {
    if (const auto fit = fits(b, x.size(axis), w); !fit.ok()) return fit.error();
    x = tensor::windows(x, axis++, w);
  }
  return x;
}

}  // namespace assay::tensor
