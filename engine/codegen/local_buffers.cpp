#include "engine/codegen/local_buffers.h"

#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

Ref add_local_buffer(Graph& g, Ref stage, std::span<const Ref> src) {
  const Ref buffer = g.make(Op::Buffer, stage->dtype, shape(g, stage), stage->arg);
  std::vector<Ref> place = {buffer};
  place.insert(place.end(), src.begin() + 1, src.end());
  const Ref element = g.make(Op::Index, stage->dtype, place);
  std::vector<Ref> end = {g.make(Op::Store, DType::Void, {element, src[0]})};
  for (const Ref r : src.subspan(1)) {
    if (r->op == Op::Range) end.push_back(r);
  }
  const Ref stored = end.size() == 1 ? end[0] : g.make(Op::End, DType::Void, end);
  return g.make(Op::After, stage->dtype, {buffer, stored});
}

Result<Ref> add_local_buffers(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  return rebuild(g, toposort(g, root), [&](Ref u, std::span<const Ref> src) {
    return u->op == Op::Stage ? add_local_buffer(g, u, src) : on_sources(g, u, src);
  });
}

}  // namespace

const uop::Pass& pm_add_local_buffers() {
  static const uop::Pass pass = {"pm_add_local_buffers", reduced_form(), unstaged_form(), {}, {},
                                 add_local_buffers};
  return pass;
}

}  // namespace assay::codegen
