#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// One decision about the loops of a kernel (README.md, Opts).
enum class OptKind : uint8_t { Local, Upcast, Unroll, Group, GroupTop, PadTo, Swap, NoLocals };

inline constexpr int kOptKinds = 8;

struct Opt {
  OptKind kind = OptKind::NoLocals;
  int64_t axis = 0;
  int64_t amount = 0;  // iterations, all of the axis where 0; the other axis of SWAP

  bool operator==(const Opt&) const = default;
};

// What an opt is about.
struct OptInfo {
  OptKind kind;
  std::string_view text;
  int arguments;
  // What the amount that it takes out of an axis becomes; nothing where it takes none.
  std::optional<uop::AxisType> becomes;
  bool of_reduces = false;  // its axis is one of the reduce axes
  bool is_outer = false;    // it takes the outer iterations, not the inner ones
};
const OptInfo& info(OptKind kind);

// "LOCAL(0,8)", "NOLOCALS".
std::string to_text(const Opt& opt);
// The opts in order, a blank between two; "NONE" where there are none.
std::string to_text(std::span<const Opt> opts);
// What to_text() prints. An error has the place in the text, counted from its first byte.
Result<std::vector<Opt>> opts_from_text(std::string_view text);

// The name of a kernel, as its SINK or LINEAR has it: "r_64_64 LOCAL(0,8)".
struct KernelName {
  std::string_view name;
  std::optional<std::string_view> opts;  // as text; nothing where no list was chosen yet
};
KernelName kernel_name(uop::Ref kernel);
// A list stands beside its name, which counts the axes that it has now.
inline bool has_opts(uop::Ref kernel) { return kernel_name(kernel).opts.has_value(); }
// The same kernel with this list beside its name.
uop::Ref with_opts(uop::Graph& g, uop::Ref kernel, std::span<const Opt> opts);

}  // namespace assay::codegen
