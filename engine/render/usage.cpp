#include "engine/render/usage.h"

#include <algorithm>

namespace assay::render {

using uop::Op;
using uop::Ref;

namespace {

// What has no text of its own: it is part of the text of whatever names it.
bool is_transparent(Ref u) {
  return u->op == Op::After || u->op == Op::Shrink || u->op == Op::Index;
}

// How many sources of u are part of its text; the others only say what came before.
size_t written_sources(Ref u) {
  switch (u->op) {
    case Op::After:
    case Op::If:
    case Op::Range: return 1;
    case Op::Shrink: return 2;
    case Op::Barrier:
    case Op::Buffer:
    case Op::End:
    case Op::EndIf:
    case Op::Param:
    case Op::Special: return 0;
    default: return u->src.size();
  }
}

// How often u writes the text of a source. The greatest and least of floats compare their operands
// and then name one of them.
uint32_t repeats(Ref u) {
  const bool is_extreme = (u->op == Op::Max || u->op == Op::Min) && uop::is_float(u->dtype);
  return is_extreme ? 2 : 1;
}

}  // namespace

Usage::Usage(std::span<const Ref> lines, const Storages& storages) {
  uses_.resize(lines.size());
  find_scopes(lines);
  for (uint32_t i = static_cast<uint32_t>(lines.size()); i-- > 0;) {
    uses_[i].is_named = names(i, lines[i], storages);
    spread(i, lines[i]);
  }
}

void Usage::find_scopes(std::span<const Ref> lines) {
  std::vector<uint32_t> open = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < lines.size(); i++) {
    if (lines[i]->op == Op::Range) open.push_back(++count);
    if (lines[i]->op == Op::End && open.size() > 1) open.pop_back();
    at_.set(lines[i], i);
    uses_[i].scope = open.back();
  }
}

// Tells the sources of a line how their texts are used.
void Usage::spread(uint32_t line, Ref u) {
  const Use& use = uses_[line];
  const bool passes_on = is_transparent(u);
  const bool is_part = passes_on || (info(u->op).typing != uop::Typing::Effect &&
                                     u->op != Op::Range && !use.is_named);
  for (const Ref s : u->src.first(written_sources(u))) {
    Use& source = uses_[at_.at(s)];
    source.count += passes_on ? use.count : repeats(u);
    source.deeper = source.deeper || source.scope != use.scope || (is_part && use.deeper);
    source.statement = is_part ? use.statement : line;
  }
}

bool Usage::names(uint32_t line, Ref u, const Storages& storages) const {
  const Use& use = uses_[line];
  if (u->op == Op::Load) {
    const std::optional<Place> place = place_of(u->src[0]);
    const bool is_scalar = place && storages.of(place->storage).is_scalars;
    if (!is_scalar || use.count != 1 || use.deeper) return true;
    // A store of the register between here and the statement would change what is read.
    const std::vector<uint32_t>& stores = storages.of(place->storage).stores;
    const auto next = std::upper_bound(stores.begin(), stores.end(), line);
    return next != stores.end() && *next < use.statement;
  }
  if (is_const(u) || is_transparent(u)) return false;
  return use.count > 1 || use.deeper;
}

}  // namespace assay::render
