#include "oracles/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/runtime/child.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/session.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/extension.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/reference/reference.h"
#include "oracles/target_licence.h"
#include "oracles/value_text.h"

namespace assay::oracles {
namespace {

using interpreter::Elements;
using interpreter::Memory;
using tensor::Program;
using tensor::Statement;
using uop::Ref;

constexpr int64_t kMostBytes = int64_t{1} << 28;  // of one buffer
// Types that a device has or has not; narrower floats are emulated where it has not.
constexpr uop::TypeSet kNeverEmulated = uop::kFixedInts | uop::TypeSet{uop::F64};

// Adds the time that it lives to a part of what is spent.
class Timed {
 public:
  explicit Timed(int64_t& part) : part_(part), begin_(runtime::now_ns()) {}
  ~Timed() { part_ += runtime::now_ns() - begin_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  int64_t& part_;
  int64_t begin_;
};

// One run of a program: its session, and the memory of each way to execute it.
class Checker {
 public:
  Checker(const Program& program, const CheckOptions& options)
      : program_(program),
        options_(options),
        session_(options.device),
        builder_(session_, program),
        outputs_(tensor::outputs(program)) {
    if (options.executor != nullptr) buffers_.emplace(options.executor->devices());
  }

  void foresee() {
    foresees_ = true;
    engine(nullptr);
  }

  Checked run() {
    const Result<std::vector<reference::Array>> reference = [&] {
      const Timed timed(made_.spent.reference);
      return reference::evaluate(program_, licence());
    }();
    const std::optional<Error> refused = engine(reference.ok() ? &reference.value() : nullptr);
    if (wrong_list_ && made_.verdict.answer != Answer::Fail) {
      made_.refused = to_string(*wrong_list_);
      made_.malformed = true;
      made_.failed_at = "refusal";
      made_.verdict = {Answer::Fail, Strength::Sampled, "malformed: " + made_.refused};
    } else if (refused) {
      made_.refused = to_string(*refused);
      made_.verdict = refusal(reference.ok());
      if (made_.verdict.answer == Answer::Fail) made_.failed_at = "refusal";
    } else if (!too_large_.empty()) {
      made_.verdict.evidence = too_large_;
      return std::move(made_);
    } else if (!reference.ok() && is_too_large(reference.error())) {
      made_.verdict.evidence = to_string(reference.error());
      return std::move(made_);
    } else if (!reference.ok()) {
      fail("refusal", fmt::format("the engine accepts what the reference refuses: {}",
                                  to_string(reference.error())));
    } else {
      expectations(reference.value());
    }
    if (made_.verdict.answer == Answer::Unknown && !lacking_.empty()) {
      made_.verdict.evidence = lacking_;
      return std::move(made_);
    }
    if (made_.verdict.answer == Answer::Unknown) {
      made_.verdict = {Answer::Pass, Strength::Sampled,
                       fmt::format("{} values compared", made_.judged.size())};
    }
    return std::move(made_);
  }

 private:
  reference::Licence licence() const {
    if (options_.executor == nullptr) return reference::full_profile();
    return licence_of(program_, options_.device, options_.executor->devices());
  }

  void fail(std::string_view stage, std::string evidence) {
    if (made_.verdict.answer == Answer::Fail) return;
    made_.failed_at = stage;
    made_.verdict = {Answer::Fail, Strength::Sampled, std::move(evidence)};
  }

  static bool is_too_large(const Error& error) {
    return error.message.find("too large to evaluate") != std::string::npos;
  }

  // The verdict on a program that the engine refuses.
  Verdict refusal(bool is_well_formed) {
    bool expected = false;
    for (const Statement& s : program_.statements) {
      const auto* e = std::get_if<tensor::Expect>(&s.what);
      if (e == nullptr || !e->error) continue;
      expected = true;
      if (made_.refused.find(*e->error) != std::string::npos) {
        return {Answer::Pass, Strength::Exhaustive, made_.refused};
      }
    }
    made_.malformed = !expected && !is_well_formed;
    const std::string_view why = expected         ? "refused with another error than expected"
                                 : is_well_formed ? "refused what is well-formed"
                                                  : "malformed";
    return {Answer::Fail, Strength::Sampled, fmt::format("{}: {}", why, made_.refused)};
  }

  // Builds and runs all statements. The error that stopped it, if one did.
  std::optional<Error> engine(const std::vector<reference::Array>* expected) {
    Result<runtime::KernelLists> lists = runtime::with_hints(options_.lists, program_);
    if (lists.ok()) {
      lists_ = std::move(lists).value();
    } else {
      wrong_list_ = lists.error();
    }
    size_t next = 0;  // of outputs_
    for (size_t k = 0; k <= program_.statements.size(); ++k) {
      if (k < program_.statements.size()) {
        const Result<bool> done = [&] {
          const Timed timed(made_.spent.compile);
          return builder_.step(k);
        }();
        if (!done.ok()) return done.error();
        load_contents();
      }
      const size_t first = next;
      while (next < outputs_.size() && static_cast<size_t>(outputs_[next].statement) == k) ++next;
      if (first != next) {
        std::optional<Error> error = force(first, next, expected);
        if (error) return error;
      }
      if (k < program_.statements.size()) {
        builder_.finish(k);
        if (buffers_) buffers_->drop_dead(session_);
      }
    }
    const Result<bool> within = lists_.within(made_.kernels + made_.copies);
    if (!within.ok() && too_large_.empty() && !wrong_list_) wrong_list_ = within.error();
    return std::nullopt;
  }

  // Counts storage that is about to be made; whether it is more than is interpreted.
  bool is_beyond_memory(std::span<const Ref> buffers) {
    tensor::Graph& g = session_.graph();
    for (const Ref b : buffers) {
      if (b->op != uop::Op::Buffer) continue;
      const auto largest = uop::max_shape(g, uop::shape(g, b));
      const auto count = largest ? uop::constant_size(*largest) : std::nullopt;
      if (!count || *count > kMostBytes / uop::bytes_of(b->dtype)) {
        too_large_ = fmt::format("storage of shape {} is too large to interpret",
                                 uop::shape_text(uop::shape(g, b)));
        return true;
      }
    }
    return false;
  }

  void load_contents() {
    for (const tensor::InitialContents& input : builder_.take_contents()) {
      if (foresees_) continue;
      if (is_beyond_memory({&input.buffer, 1})) return;
      for (Memory* memory : {&kernels_, &planned_}) {
        const std::span<std::byte> bytes = memory->of(session_.graph(), input.buffer);
        std::copy(input.bytes.begin(), input.bytes.end(), bytes.begin());
      }
      if (!buffers_) continue;
      const Result<bool> written =
          buffers_->write(session_.graph(), input.buffer, kernels_.at(input.buffer->arg.number()));
      if (!written.ok()) fail("device", fmt::format("device: {}", to_string(written.error())));
    }
  }

  int line_of(size_t output) const {
    const auto k = static_cast<size_t>(outputs_[output].statement);
    return k < program_.statements.size() ? program_.statements[k].line : 0;
  }

  // Schedules and runs what outputs [first, last) need, and compares them.
  std::optional<Error> force(size_t first, size_t last,
                             const std::vector<reference::Array>* expected) {
    std::vector<const tensor::Tensor*> tensors;
    for (size_t i = first; i < last; ++i) tensors.push_back(&builder_.tensor(outputs_[i].value));
    if (options_.tensor_graph && expected != nullptr && too_large_.empty()) {
      const Timed timed(made_.spent.interpret);
      compare_all("tensor", first, tensors, kernels_, *expected);
    }
    const Result<schedule::Schedule> made = [&] {
      const Timed timed(made_.spent.compile);
      return schedule::linear_with_vars(session_, tensors, options_.schedule);
    }();
    if (!made.ok()) {
      Error error = made.error();
      if (error.line == 0) error.line = line_of(first);
      return error;
    }
    const schedule::Schedule& s = made.value();
    const int64_t before = made_.kernels + made_.copies;
    count(s);
    if (s.linear != nullptr) {
      for (const Ref call : s.linear->src) {
        if (is_beyond_memory(call->src.subspan(1))) break;
      }
    }
    if (foresees_ && too_large_.empty()) foresee(s, before);
    if (expected == nullptr || !too_large_.empty()) return std::nullopt;
    interpret_stages(s, first, tensors, *expected);
    if (buffers_) run_on_devices(s, before, first, tensors, *expected);
    return std::nullopt;
  }

  void interpret_stages(const schedule::Schedule& s, size_t first,
                        std::span<const tensor::Tensor* const> tensors,
                        const std::vector<reference::Array>& expected) {
    const Timed timed(made_.spent.interpret);
    const interpreter::Variables variables(s.variables.begin(), s.variables.end());
    if (options_.kernels) {
      execute("kernels", s.linear, variables, kernels_, {});
      compare_all("kernels", first, tensors, kernels_, expected);
    }
    if (options_.planned) {
      std::vector<int> order;
      if (s.planned != nullptr) {
        order = interpreter::random_extension(s.planned, options_.seed);
      }
      execute("planned", s.planned, variables, planned_, order);
      compare_all("planned", first, tensors, planned_, expected);
    }
  }

  void count(const schedule::Schedule& s) {
    if (s.linear == nullptr) return;
    ++made_.schedules;
    for (const Ref call : s.linear->src) {
      ++(schedule::is_copy(call) ? made_.copies : made_.kernels);
    }
    made_.planned_bytes += s.plan.planned_bytes;
    made_.lower_bound_bytes += s.plan.lower_bound_bytes;
  }

  void execute(std::string_view stage, Ref linear, const interpreter::Variables& variables,
               Memory& memory, std::span<const int> order) {
    if (linear == nullptr) return;
    const Result<bool> done = interpreter::run(session_.graph(), linear, variables, memory, order);
    if (!done.ok()) fail(stage, fmt::format("{}: {}", stage, to_string(done.error())));
  }

  // Says in lacking_ which type kernels have that the device neither has nor can emulate.
  void find_lacking(const schedule::Schedule& s) {
    const Result<runtime::Device*> device = options_.executor->devices().open(options_.device);
    if (s.linear == nullptr || !device.ok()) return;
    const uop::Target& target = device.value()->target();
    for (const Ref call : s.linear->src) {
      if (schedule::is_copy(call)) continue;
      for (const Ref u : uop::toposort(session_.graph(), call->src[0])) {
        if (!kNeverEmulated.has(u->dtype) || target.arithmetic.has(u->dtype)) continue;
        lacking_ = fmt::format("not run on {}: {} has no {}", options_.device, target.name,
                               uop::to_text(u->dtype));
        return;
      }
    }
  }

  // The schedule with the opts that its kernels are to have, of which there were `before` already.
  Result<schedule::Schedule> listed(const schedule::Schedule& s, int64_t before) {
    return runtime::with_lists(session_.graph(), s, lists_, before,
                               runtime::targets_of(options_.executor->devices()),
                               options_.schedule.switches, options_.schedule.watch);
  }

  // The same for devices; nothing where these do not run it.
  std::optional<schedule::Schedule> for_devices(const schedule::Schedule& made, int64_t before) {
    if (lacking_.empty()) find_lacking(made);
    if (made_.verdict.answer == Answer::Fail || wrong_list_ || !lacking_.empty()) return {};
    const Timed timed(made_.spent.compile);
    Result<schedule::Schedule> s = listed(made, before);
    if (s.ok()) return std::move(s).value();
    wrong_list_ = s.error();
    return {};
  }

  runtime::RunOptions run_options() const {
    runtime::RunOptions how;
    how.switches = options_.schedule.switches;
    how.watch = options_.schedule.watch;
    how.limit_ms = options_.limit_ms;
    how.poison = true;
    how.planned = options_.arenas;
    return how;
  }

  void foresee(const schedule::Schedule& made, int64_t before) {
    const std::optional<schedule::Schedule> s = for_devices(made, before);
    if (s) options_.executor->foresee(session_.graph(), *s, run_options());
  }

  void run_on_devices(const schedule::Schedule& made, int64_t before, size_t first,
                      std::span<const tensor::Tensor* const> tensors,
                      const std::vector<reference::Array>& expected) {
    const std::optional<schedule::Schedule> with_opts = for_devices(made, before);
    if (!with_opts) return;
    const schedule::Schedule& s = *with_opts;
    if (s.linear != nullptr) {
      const Result<runtime::Ran> ran = [&] {
        const Timed timed(made_.spent.execute);
        return options_.executor->run(session_.graph(), s, *buffers_, run_options());
      }();
      if (!ran.ok()) return fail("device", fmt::format("device: {}", to_string(ran.error())));
      made_.runs.push_back(ran.value());
      if (ran.value().status != runtime::Status::Ok) {
        return fail("device",
                    fmt::format("device: {}: {}", to_text(ran.value().status), ran.value().why));
      }
    }
    const Timed timed(made_.spent.compare);
    Memory memory;
    if (read_back(tensors, memory)) compare_all("device", first, tensors, memory, expected);
  }

  // What the devices hold of all storage that tensors name.
  bool read_back(std::span<const tensor::Tensor* const> tensors, Memory& memory) {
    uop::Graph& g = session_.graph();
    for (const tensor::Tensor* t : tensors) {
      for (const Ref u : uop::toposort(g, t->read())) {
        if (u->op != uop::Op::Buffer || memory.has(u->arg.number())) continue;
        const std::span<std::byte> bytes = memory.of(g, u);
        if (bytes.empty()) continue;
        const Result<std::vector<std::byte>> held = buffers_->read(u);
        if (!held.ok()) {
          fail("device", fmt::format("device: {}", to_string(held.error())));
          return false;
        }
        std::ranges::copy(held.value(), bytes.begin());
      }
    }
    return true;
  }

  void compare_all(std::string_view stage, size_t first,
                   std::span<const tensor::Tensor* const> tensors, Memory& memory,
                   const std::vector<reference::Array>& expected) {
    if (made_.verdict.answer == Answer::Fail) return;
    std::vector<Ref> nodes;
    for (const tensor::Tensor* t : tensors) nodes.push_back(t->read());
    const Result<std::vector<Elements>> values =
        interpreter::evaluate(session_.graph(), nodes, bound_, memory);
    if (!values.ok()) {
      fail(stage, fmt::format("{}: {}", stage, to_string(values.error())));
      return;
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Elements& e = values.value()[i];
      judge(stage, first + i, compare(expected[first + i], e.bytes));
      const bool is_kept = options_.keep_values && (stage == "kernels" || stage == "device");
      if (is_kept) made_.judged.back().text = value_text(e.dtype, e.shape, e.bytes);
    }
  }

  void judge(std::string_view stage, size_t output, Comparison comparison) {
    const std::string& name = program_.define(outputs_[output].value).name;
    if (!comparison.agrees()) {
      fail(stage, fmt::format("line {}: {} at stage {}: {}", line_of(output), name, stage,
                              to_text(comparison)));
    }
    made_.judged.push_back({name, line_of(output), stage, std::move(comparison), {}});
  }

  // The reference against what the program expects.
  void expectations(const std::vector<reference::Array>& values) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const auto k = static_cast<size_t>(outputs_[i].statement);
      if (k >= program_.statements.size()) continue;
      const auto* e = std::get_if<tensor::Expect>(&program_.statements[k].what);
      if (e == nullptr) continue;
      judge("expect", i, compare(values[i], e->data));
    }
    for (const Statement& s : program_.statements) {
      const auto* e = std::get_if<tensor::Expect>(&s.what);
      if (e != nullptr && !e->may_be_value()) {
        fail("refusal",
             fmt::format("line {}: expected an error with '{}', found none", s.line, *e->error));
      }
    }
  }

  const Program& program_;
  const CheckOptions& options_;
  tensor::Session session_;
  tensor::Builder builder_;
  std::vector<tensor::Output> outputs_;
  Memory kernels_;
  Memory planned_;
  std::optional<runtime::Buffers> buffers_;  // on devices, where there is an executor
  interpreter::Variables bound_;
  runtime::KernelLists lists_;
  std::optional<Error> wrong_list_;  // the first that cannot be
  bool foresees_ = false;            // no more than what devices will build
  std::string too_large_;            // why nothing more is run
  std::string lacking_;              // why nothing more is run on devices
  Checked made_;
};

}  // namespace

Checked check(const Program& program, const CheckOptions& options) {
  return Checker(program, options).run();
}

void foresee(const Program& program, const CheckOptions& options) {
  Checker(program, options).foresee();
}

}  // namespace assay::oracles
