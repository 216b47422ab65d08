#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/runtime/device.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/watch.h"
#include "fuzz/fault/edit.h"

// Mistakes that a compiler like this one makes, as data: what is planted in a run is one row.
namespace assay::fuzz {

enum class FaultClass : uint8_t {
  Order,     // versions of storage and the edges between calls
  Memory,    // places in arenas and the edges that they need
  Ranges,    // loops, movement, fusion
  Index,     // index arithmetic, and the rules that simplify it
  DType,     // types that are emulated, casts, functions that are computed
  Reduce,    // accumulators and what they begin with
  Local,     // storage that work-items share, and barriers
  Vector,    // lanes and gates
  Renderer,  // text; shows on `cl:` devices, what it equals in the LINEAR on `sim`
  Runtime,   // batches: waits, views, commands
};
inline constexpr int kFaultClasses = 10;
std::string_view to_text(FaultClass of);

// How a fault is made.
struct Nodes {  // nodes of what the stage made become others
  Which which;
  NodeEdit edit;
};
struct Whole {  // all of it becomes another
  Ref (*edit)(Graph& g, Ref root);
};
struct Edges {  // of a LINEAR of calls
  void (*edit)(std::vector<schedule::Edge>& edges);
};
struct Text {  // of a kernel
  void (*edit)(std::string& text);
};
struct Commands {  // of a batch
  void (*edit)(runtime::Batch& batch);
};
struct WrongRule {  // stands in the place of the set's rule of that name
  std::string_view set;
  uop::Rule rule;
};

struct Fault {
  std::string name;  // "order.war_edge_dropped"
  FaultClass of;
  std::string does;   // in a sentence
  std::string blame;  // where it is planted: a stage (uop/watch.h), a pass, a rule
  std::variant<Nodes, Whole, Edges, Text, Commands, WrongRule> how;
  std::string_view row = {};  // of the catalogue of bugs, where it is in the manner of one
  // Why it may not be found, where that is known: "equivalent…" where no case can reach it.
  std::string_view note = {};

  bool is_rule() const { return std::holds_alternative<WrongRule>(how); }
};

// A fault in a run: the watch, and the switches that go with it.
class Planted : public uop::Watch {
 public:
  explicit Planted(const Fault& fault);

  const Fault& fault() const { return fault_; }
  const uop::Switches& switches() const { return switches_; }
  // How often it changed something. A rule does when it fires.
  int64_t changes() const { return changes_; }

  bool edits() const override { return !fault_.is_rule(); }
  Ref edit(std::string_view stage, Graph& g, Ref u) override;
  void edit_source(std::string& text) override;
  void edit_batch(runtime::Batch& batch) override;
  using Watch::seen;
  void seen(const uop::RuleSeen& seen) override;

 private:
  Fault fault_;
  std::unique_ptr<uop::RuleSet> rules_;
  uop::Switches switches_;
  int64_t changes_ = 0;
};

// Those of stages, by class; names are unique. Of rules derived from the table of rules: mutants.h.
std::span<const Fault> stage_faults();
std::vector<Fault> order_faults();
std::vector<Fault> memory_faults();
std::vector<Fault> range_faults();
std::vector<Fault> index_faults();
std::vector<Fault> dtype_faults();
std::vector<Fault> reduce_faults();
std::vector<Fault> local_faults();
std::vector<Fault> vector_faults();
std::vector<Fault> renderer_faults();
std::vector<Fault> runtime_faults();

}  // namespace assay::fuzz
