#include "oracles/interpreter/poison.h"

#include <algorithm>
#include <array>

#include "engine/uop/op.h"
#include "engine/uop/walk.h"

namespace assay::interpreter {
namespace {

// Large and small, of either sign and parity, so that what is computed of them differs in one.
constexpr std::array<Poison, kPoisons> kAll = {
    kUsualPoison, Poison{0x5A5A'5A5A'5A5A'5A5A, Slot{0x400} << 52}, Poison{0, 0},
    Poison{0x0101'0101'0101'0101, Slot{0xBFF} << 52}};

constexpr uop::OpSet kByConstantOnly = {uop::Op::Div, uop::Op::Mod, uop::Op::TDiv, uop::Op::TMod,
                                        uop::Op::Shl, uop::Op::Shr, uop::Op::Pow};

// A term of counters and sizes has a value wherever it is read.
bool may_have_none(uop::Ref u) {
  if (u->dtype == DType::Index || uop::is_float(u->dtype)) return false;
  if (u->op == uop::Op::Invalid) return true;
  if (u->op == uop::Op::Cast) return uop::is_float(u->src[0]->dtype) && u->dtype != DType::Bool;
  return kByConstantOnly.has(u->op) && !uop::is_const(u->src[1]);
}

}  // namespace

PoisonScope::PoisonScope(int which) { poison_now = kAll.at(static_cast<size_t>(which)); }

Result<ByteMarks> unspecified_bytes(const Storages& usual,
                                    const std::function<Result<Storages>()>& run) {
  ByteMarks marks;
  for (const std::vector<std::byte>& bytes : usual) marks.emplace_back(bytes.size(), false);
  for (int which = 1; which < kPoisons; which++) {
    const PoisonScope other(which);
    ASSAY_TRY(again, run());
    for (size_t k = 0; k < usual.size(); k++) {
      for (size_t i = 0; i < usual[k].size(); i++) {
        if (again[k][i] != usual[k][i]) marks[k][i] = true;
      }
    }
  }
  return marks;
}

bool is_marked(const std::vector<bool>& marks, size_t element, size_t width) {
  const auto begin = marks.begin() + static_cast<std::ptrdiff_t>(element * width);
  const auto end = begin + static_cast<std::ptrdiff_t>(width);
  return std::find(begin, end, true) != end;
}

bool may_lack_value(uop::Graph& g, uop::Ref root) {
  const std::vector<uop::Ref> nodes = uop::toposort(g, root);
  return std::any_of(nodes.begin(), nodes.end(), may_have_none);
}

}  // namespace assay::interpreter
