#include "fuzz/commands/emit.h"

#include <fmt/format.h>

#include "engine/codegen/pipeline.h"
#include "engine/render/renderer.h"
#include "engine/schedule/listing.h"
#include "engine/uop/dot.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"

namespace assay::fuzz {
namespace {

using uop::Graph;
using uop::Ref;

std::string graph_text(const Emission& e, Ref root, std::string_view stage) {
  return e.format == Format::Dot ? uop::to_dot(e.graph, root) : uop::to_text(e.graph, root, stage);
}

std::string heading(const Emission& e, size_t kernel) {
  const Ref call = e.schedule.linear->src[kernel];
  const std::string said = fmt::format("kernel {}: {}\n", e.first + static_cast<int64_t>(kernel),
                                       schedule::call_text(e.graph, call));
  return (e.format == Format::Dot ? "// " : "# ") + said;
}

std::string kernels(const Emission& e) {
  std::string out;
  for (size_t k = 0; k < e.schedule.linear->src.size(); ++k) {
    out += heading(e, k) + graph_text(e, e.schedule.linear->src[k]->src[0], "kernel");
  }
  return out;
}

// What `text` makes of each kernel that is computed, one after the other.
template <typename Text>
Result<std::string> of_kernels(const Emission& e, Text text) {
  std::string out;
  for (size_t k = 0; k < e.schedule.linear->src.size(); ++k) {
    const Ref call = e.schedule.linear->src[k];
    if (schedule::is_copy(call)) continue;
    const Result<std::string> made = text(call->src[0]);
    if (!made.ok()) {
      return Error{
          fmt::format("kernel {}: {}", e.first + static_cast<int64_t>(k), to_string(made.error())),
          0, 0};
    }
    out += heading(e, k) + made.value();
  }
  return out;
}

Result<Ref> lowered(const Emission& e, Ref kernel, uop::Watch* watch = nullptr) {
  if (kernel->op == uop::Op::Linear) return kernel;
  uop::Run run(e.graph, e.switches, watch, e.target);
  return codegen::lower(run, kernel);
}

Result<std::string> lines(const Emission& e) {
  return of_kernels(e, [&](Ref kernel) -> Result<std::string> {
    ASSAY_TRY(linear, lowered(e, kernel));
    return graph_text(e, linear, "lines");
  });
}

Result<std::string> opencl(const Emission& e) {
  return of_kernels(e, [&](Ref kernel) -> Result<std::string> {
    ASSAY_TRY(linear, lowered(e, kernel));
    ASSAY_TRY(source, render::render(e.graph, linear, e.target));
    return source.text;
  });
}

// Writes down what passes do.
class PassLog : public uop::Watch {
 public:
  explicit PassLog(std::function<void(const uop::PassSeen&)> log) : log_(std::move(log)) {}
  using Watch::seen;
  void seen(const uop::PassSeen& seen) override { log_(seen); }

 private:
  std::function<void(const uop::PassSeen&)> log_;
};

// Each pass with the form it yields, its firings and the nodes that it left.
Result<std::string> passes(const Emission& e) {
  return of_kernels(e, [&](Ref kernel) -> Result<std::string> {
    std::string out;
    PassLog log([&](const uop::PassSeen& seen) {
      out += fmt::format("{:<22} {:<10} -> {:<10} {:>6} firings {:>7} nodes{}\n", seen.pass.name,
                         seen.pass.accepts.name, seen.pass.yields.name, seen.firings,
                         uop::toposort(seen.graph, seen.after).size(),
                         seen.before == seen.after ? "  unchanged" : "");
    });
    const Result<Ref> linear = lowered(e, kernel, &log);
    return linear.ok() ? Result<std::string>(out) : linear.error();
  });
}

// The kernel before and after one pass.
Result<std::string> one_pass(const Emission& e, std::string_view name) {
  return of_kernels(e, [&](Ref kernel) -> Result<std::string> {
    std::string out;
    PassLog log([&](const uop::PassSeen& seen) {
      if (seen.pass.name != name) return;
      const bool is_text = e.format == Format::Text;
      if (is_text) out += "# before\n";
      out += graph_text(e, seen.before, seen.pass.accepts.name);
      if (is_text) out += "# after\n";
      out += graph_text(e, seen.after, seen.pass.yields.name);
    });
    const Result<Ref> linear = lowered(e, kernel, &log);
    return linear.ok() ? Result<std::string>(out) : linear.error();
  });
}

}  // namespace

std::vector<Stage> emit_stages() {
  std::vector<Stage> stages = {
      {"tensor", "what was to be scheduled", false,
       [](const Emission& e) { return graph_text(e, e.schedule.call->src[0], "tensor"); }},
      {"kernels", "each kernel, in order", true, kernels},
      {"schedule", "the order, with what each kernel reads and writes and waits for", false,
       [](const Emission& e) {
         return e.format == Format::Dot ? schedule::schedule_dot(e.graph, e.schedule.linear)
                                        : schedule::schedule_text(e.graph, e.schedule.linear);
       }},
      {"plan", "where each buffer lies", false,
       [](const Emission& e) {
         return e.format == Format::Dot ? schedule::plan_dot(e.schedule.plan)
                                        : schedule::plan_text(e.schedule.plan);
       }},
      {"linear", "the list of calls over planned memory, as a graph", false,
       [](const Emission& e) { return graph_text(e, e.schedule.planned, "linear"); }},
      {"passes", "what each pass of code generation does to each kernel", true, passes},
      {"lines", "each kernel as a list of instructions", true, lines},
      {"opencl", "each kernel as OpenCL C", true, opencl},
  };
  for (const uop::Pass* pass : codegen::pipeline()) {
    stages.push_back({fmt::format("pass:{}", pass->name), "each kernel before and after that pass",
                      true, [pass](const Emission& e) { return one_pass(e, pass->name); }});
  }
  return stages;
}

}  // namespace assay::fuzz
