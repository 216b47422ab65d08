#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "engine/uop/dtype.h"

namespace assay::uop {

enum class Op : uint8_t {
#define OP(name, ...) name,
#include "engine/uop/op.def"
#undef OP
};

#define OP(name, ...) +1
inline constexpr int kOpCount = 0
#include "engine/uop/op.def"
    ;
#undef OP

// What an operation carries besides its sources. All but None and Value are written in .uop text
// between braces.
enum class ArgKind : uint8_t {
  None,
  Value,    // a scalar of the node's type
  Number,   // a slot, a device, an axis
  Axis,     // number and AxisType of a loop
  Place,    // number and AddrSpace of storage
  Fold,     // the operation of a reduce, and how many leading axes of the shape it folds
  Numbers,  // a list of axes
  Name,
  Symbol,  // a name with its least and largest value; no bounds where it may be anything
  Info,    // a name and numbers that only later stages read; may be absent
};

// How the type of a node follows from those of its sources.
enum class Typing : uint8_t {
  Leaf,     // free
  Same,     // all sources have the node's type
  Compare,  // all sources agree, the node is bool
  Select,   // the first source is bool, the others have the node's type
  Convert,  // free, one source of any type
  First,    // the first source has the node's type, the others are free
  Effect,   // the node is void
};

enum class Unit : uint8_t { None, Zero, One, Lowest, Highest, Ones };

inline constexpr uint8_t kScalar = 1;
inline constexpr uint8_t kCommutes = 2;
inline constexpr uint8_t kAssociates = 4;
inline constexpr uint8_t kIdempotent = 8;
inline constexpr uint8_t kMoves = 16;
inline constexpr uint8_t kRing = kScalar | kCommutes | kAssociates;
inline constexpr uint8_t kLattice = kRing | kIdempotent;
inline constexpr int kMany = -1;

struct OpInfo {
  Op op;
  std::string_view text;
  std::string_view symbol;
  int min_sources;
  int max_sources;
  ArgKind arg;
  Typing typing;
  TypeSet over;
  uint8_t traits;
  Unit unit;
};

namespace detail {
inline constexpr OpInfo kOps[] = {
#define OP(name, text, symbol, min, max, arg, typing, over, traits, unit) \
  {Op::name, text, symbol, min, max, ArgKind::arg, Typing::typing, over, traits, Unit::unit},
#include "engine/uop/op.def"
#undef OP
};
}  // namespace detail

constexpr const OpInfo& info(Op op) { return detail::kOps[static_cast<int>(op)]; }
constexpr bool is_scalar(Op op) { return (info(op).traits & kScalar) != 0; }
constexpr bool commutes(Op op) { return (info(op).traits & kCommutes) != 0; }
constexpr bool is_movement(Op op) { return (info(op).traits & kMoves) != 0; }
constexpr std::string_view to_text(Op op) { return info(op).text; }

std::optional<Op> op_from_text(std::string_view text);
std::optional<Op> op_from_symbol(std::string_view symbol);

// A set of operations.
class OpSet {
 public:
  constexpr OpSet() = default;
  constexpr OpSet(std::initializer_list<Op> ops) {
    for (Op op : ops) insert(op);
  }
  static constexpr OpSet all() {
    OpSet set;
    for (int i = 0; i < kOpCount; i++) set.insert(static_cast<Op>(i));
    return set;
  }

  constexpr void insert(Op op) { mask_ |= bit(op); }
  constexpr bool has(Op op) const { return (mask_ & bit(op)) != 0; }
  constexpr bool empty() const { return mask_ == 0; }
  constexpr bool meets(OpSet o) const { return (mask_ & o.mask_) != 0; }
  constexpr bool contains(OpSet o) const { return (o.mask_ & ~mask_) == 0; }
  constexpr OpSet operator|(OpSet o) const { return OpSet(mask_ | o.mask_); }
  constexpr OpSet operator&(OpSet o) const { return OpSet(mask_ & o.mask_); }
  constexpr OpSet operator-(OpSet o) const { return OpSet(mask_ & ~o.mask_); }
  constexpr bool operator==(const OpSet&) const = default;

 private:
  explicit constexpr OpSet(UInt128 mask) : mask_(mask) {}
  static constexpr UInt128 bit(Op op) { return UInt128{1} << static_cast<int>(op); }
  UInt128 mask_ = 0;
};
static_assert(kOpCount <= 128);

// What a loop's iterations are: a loop, work-groups, work-items, or part of a reduce.
enum class AxisType : uint8_t {
  Loop,
  Weak,
  Reduce,
  Global,
  Local,
  Warp,
  GroupReduce,
  Upcast,
  Unroll
};
enum class AddrSpace : uint8_t { Global, Local, Reg };

std::string_view to_text(AxisType type);
std::string_view to_text(AddrSpace space);
std::optional<AxisType> axis_type_from_text(std::string_view text);
std::optional<AddrSpace> addr_space_from_text(std::string_view text);

}  // namespace assay::uop
