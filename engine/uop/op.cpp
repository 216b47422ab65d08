#include "engine/uop/op.h"

namespace assay::uop {
namespace {

constexpr std::string_view kAxisTypes[] = {"loop", "weak",         "reduce", "global", "local",
                                           "warp", "group_reduce", "upcast", "unroll"};
constexpr std::string_view kAddrSpaces[] = {"global", "local", "reg"};

template <typename E, size_t N>
std::optional<E> find(const std::string_view (&names)[N], std::string_view text) {
  for (size_t i = 0; i < N; i++) {
    if (names[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Op> op_from_text(std::string_view text) {
  for (const OpInfo& row : detail::kOps) {
    if (row.text == text) return row.op;
  }
  return std::nullopt;
}

std::optional<Op> op_from_symbol(std::string_view symbol) {
  for (const OpInfo& row : detail::kOps) {
    if (row.symbol == symbol) return row.op;
  }
  return std::nullopt;
}

std::string_view to_text(AxisType type) { return kAxisTypes[static_cast<int>(type)]; }
std::string_view to_text(AddrSpace space) { return kAddrSpaces[static_cast<int>(space)]; }

std::optional<AxisType> axis_type_from_text(std::string_view text) {
  return find<AxisType>(kAxisTypes, text);
}
std::optional<AddrSpace> addr_space_from_text(std::string_view text) {
  return find<AddrSpace>(kAddrSpaces, text);
}

}  // namespace assay::uop
