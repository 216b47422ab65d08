#include "oracles/reference/bounded.h"

namespace assay::reference {
namespace {

using enum uop::DType;
using uop::kFloats;
using uop::kInts;
using uop::kLogic;
using uop::kNumbers;
using uop::kScalars;
using uop::TypeSet;

struct FnRow {
  std::string_view name;
  int operands;
  TypeSet over;
};

constexpr FnRow kRows[] = {
#define FN(name, operands, over) {#name, operands, over},
#include "oracles/reference/fn.def"
#undef FN
};

const FnRow& row(Fn fn) { return kRows[static_cast<int>(fn)]; }

}  // namespace

std::string_view name_of(Fn fn) { return row(fn).name; }
int operands_of(Fn fn) { return row(fn).operands; }
TypeSet types_of(Fn fn) { return row(fn).over; }

DType result_type(Fn fn, DType t) {
  const bool claims =
      fn == Fn::Lt || fn == Fn::Eq || fn == Fn::Ne || fn == Fn::IsNan || fn == Fn::IsInf;
  return claims ? Bool : t;
}

}  // namespace assay::reference
