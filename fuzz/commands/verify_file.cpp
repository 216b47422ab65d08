#include "fuzz/commands/verify_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/schedule/memory_plan.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "fuzz/commands/kernel_text.h"
#include "fuzz/commands/programs.h"
#include "props/compile.h"
#include "props/kernel/kernel_props.h"
#include "props/schedule/schedule_props.h"

namespace assay::fuzz {

using props::Answer;
using props::Checked;
using props::Judgement;
using props::Property;

namespace {

bool is_list_of_calls(uop::Ref root) {
  return root->op == uop::Op::Linear &&
         std::ranges::any_of(root->src, [](uop::Ref u) { return u->op == uop::Op::Call; });
}

// A file that says what is found in it.
std::string expecting(std::string text, const std::vector<std::string>& found) {
  std::string lines;
  for (const std::string& one : found) lines += fmt::format("# expect {}\n", one);
  const size_t list = text.starts_with("uop ") ? 0 : text.find("\nuop ") + 1;
  return text.insert(list, lines);
}

}  // namespace

FileVerifier::FileVerifier(const VerifyOptions& options, const std::vector<std::string>& files,
                           QuestionTotals& totals, std::mutex& mutex)
    : options_(options),
      files_(files),
      totals_(totals),
      mutex_(mutex),
      prover_(std::make_unique<smt::Prover>(options.proof.prover_options())),
      cache_(std::make_unique<schedule::Cache>()),
      verifier_(std::make_unique<props::Verifier>(
          options.chosen, props::Context{*prover_, *options.target, options.proof.seed})) {}

FileVerifier::~FileVerifier() {
  if (prover_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  totals_.add(*prover_);
}

FileResult FileVerifier::operator()(size_t i) {
  FileResult result;
  const Result<std::string> text = read_file(files_[i]);
  const Result<int64_t> kernels = !text.ok()
                                      ? Result<int64_t>(text.error())
                                      : (is_kernel_file(files_[i]) ? kernel(text.value(), result)
                                                                   : program(text.value(), result));
  if (kernels.ok()) {
    result.kernels = kernels.value();
  } else {
    result.malformed = to_string(kernels.error());
  }
  std::vector<Judgement> seen = verifier_->take();
  result.judgements.insert(result.judgements.end(), std::make_move_iterator(seen.begin()),
                           std::make_move_iterator(seen.end()));
  return result;
}

Result<int64_t> FileVerifier::program(const std::string& text, FileResult& result) {
  ASSAY_TRY(program, tensor::from_text(text));
  const props::CompileOptions how = {options_.lists, options_.switches, cache_.get()};
  Result<int64_t> kernels = props::compile(program, how, *verifier_);
  if (kernels.ok()) return kernels;
  for (const tensor::Statement& s : program.statements) {
    const auto* e = std::get_if<tensor::Expect>(&s.what);
    if (e == nullptr || !e->error) continue;
    if (kernels.error().message.find(*e->error) == std::string::npos) continue;
    result.refused = kernels.error().message;
    return int64_t{0};
  }
  return kernels;
}

Result<int64_t> FileVerifier::kernel(const std::string& text, FileResult& result) {
  uop::Graph g;
  ASSAY_TRY(parsed, uop::from_text(g, text));
  if (is_list_of_calls(parsed.root)) return calls(g, parsed.root, result);
  KernelText kernel;
  const Result<bool> read = read_kernel_text(text, kernel);
  if (!read.ok()) return read.error();
  const props::CompileOptions how = {options_.lists, options_.switches, nullptr};
  if (!kernel.is_list) {
    return props::compile(kernel.file.graph, kernel.root, how, *verifier_);
  }
  if (!options_.lists.empty()) {
    return Error{"it is a list of instructions, for which opts come too late"};
  }
  return list(text, kernel.file, result);
}

// Of a list of calls, as evidence of a wrong order is one: what all of its storage holds in the
// end counts.
Result<int64_t> FileVerifier::calls(uop::Graph& g, uop::Ref linear, FileResult& result) {
  std::vector<uop::Ref> held;
  for (const uop::Ref u : uop::toposort(g, linear, uop::Extent::OutsideBodies)) {
    if (u->op == uop::Op::Buffer) held.push_back(u);
  }
  const schedule::PlanOptions how = {held, {}};
  const schedule::MemoryPlan none;
  if (is_chosen("linear_order")) {
    result.judgements.push_back(
        {props::find_property("linear_order")->name, "the list of calls",
         props::linear_order({g, linear, linear, none, how, {}}, verifier_->context())});
  }
  return static_cast<int64_t>(linear->src.size());
}

bool FileVerifier::is_chosen(std::string_view property) const {
  return std::ranges::any_of(options_.chosen,
                             [&](const Property* p) { return p->name == property; });
}

// What the file expects to be found is a failure of the kernel, and none of the file. Where more
// is found the file is the evidence, once it says so.
Result<int64_t> FileVerifier::list(const std::string& text, workgroup::KernelFile& file,
                                   FileResult& result) {
  ASSAY_TRY(checked, props::check_kernel_file(file, verifier_->context()));
  for (props::FileChecked& c : checked.properties) {
    if (!is_chosen(c.property)) continue;
    if (c.checked.verdict.answer == Answer::Fail && checked.difference.empty()) {
      c.checked.verdict.answer = Answer::Pass;
      c.checked.verdict.evidence = "refuted, as expected: " + c.checked.verdict.evidence;
    }
    if (c.checked.verdict.answer == Answer::Fail) {
      c.checked.evidence.push_back({"list.uop", expecting(text, checked.unexpected)});
    }
    result.judgements.push_back({c.property, "the list", std::move(c.checked)});
  }
  if (checked.difference.empty()) return int64_t{1};
  Checked wrong;
  wrong.verdict = {Answer::Fail, props::Strength::Proved, checked.difference};
  result.judgements.push_back({"kernel_races", "what the file expects", std::move(wrong)});
  return int64_t{1};
}

}  // namespace assay::fuzz
