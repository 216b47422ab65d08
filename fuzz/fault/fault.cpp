#include "fuzz/fault/fault.h"

#include <array>
#include <utility>

namespace assay::fuzz {
namespace {

constexpr std::array<std::string_view, kFaultClasses> kClassNames = {
    "order",  "memory", "ranges", "index",    "dtype",
    "reduce", "local",  "vector", "renderer", "runtime"};

Ref edited_by(const Fault& fault, Graph& g, Ref root) {
  if (const auto* nodes = std::get_if<Nodes>(&fault.how)) {
    return edited(g, root, nodes->which, nodes->edit);
  }
  if (const auto* whole = std::get_if<Whole>(&fault.how)) return whole->edit(g, root);
  if (const auto* edges = std::get_if<Edges>(&fault.how)) return with_edges(g, root, edges->edit);
  return root;
}

bool is_equal(const runtime::View& a, const runtime::View& b) {
  return a.storage == b.storage && a.offset == b.offset && a.bytes == b.bytes;
}

bool is_equal(const runtime::Command& a, const runtime::Command& b) {
  if (a.kind != b.kind || !(a.kernel == b.kernel) || a.waits != b.waits) return false;
  if (a.views.size() != b.views.size()) return false;
  for (size_t i = 0; i < a.views.size(); i++) {
    if (!is_equal(a.views[i], b.views[i])) return false;
  }
  return a.from.data() == b.from.data() && a.from.size() == b.from.size() &&
         a.into.size() == b.into.size();
}

bool is_equal(const runtime::Batch& a, const runtime::Batch& b) {
  if (a.variables != b.variables) return false;
  for (size_t i = 0; i < a.commands.size(); i++) {
    if (!is_equal(a.commands[i], b.commands[i])) return false;
  }
  return true;
}

}  // namespace

std::string_view to_text(FaultClass of) { return kClassNames[static_cast<size_t>(of)]; }

Planted::Planted(const Fault& fault) : fault_(fault) {
  const auto* wrong = std::get_if<WrongRule>(&fault_.how);
  if (wrong == nullptr) return;
  rules_ = std::make_unique<uop::RuleSet>(wrong->set, std::vector<uop::Rule>{wrong->rule});
  switches_.substitutes = {rules_.get()};
}

Ref Planted::edit(std::string_view stage, Graph& g, Ref u) {
  if (stage != fault_.blame) return u;
  const Ref now = edited_by(fault_, g, u);
  changes_ += now == u ? 0 : 1;
  return now;
}

void Planted::edit_source(std::string& text) {
  const auto* how = std::get_if<Text>(&fault_.how);
  if (how == nullptr) return;
  const std::string before = text;
  how->edit(text);
  changes_ += text == before ? 0 : 1;
}

void Planted::edit_batch(runtime::Batch& batch) {
  const auto* how = std::get_if<Commands>(&fault_.how);
  if (how == nullptr) return;
  const runtime::Batch before = batch;
  how->edit(batch);
  changes_ += is_equal(batch, before) ? 0 : 1;
}

void Planted::seen(const uop::RuleSeen& seen) { changes_ += &seen.set == rules_.get() ? 1 : 0; }

std::span<const Fault> stage_faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> faults;
    for (auto* const of :
         {order_faults, memory_faults, range_faults, index_faults, dtype_faults, reduce_faults,
          local_faults, vector_faults, renderer_faults, runtime_faults}) {
      std::vector<Fault> more = of();
      faults.insert(faults.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    }
    return faults;
  }();
  return all;
}

}  // namespace assay::fuzz
