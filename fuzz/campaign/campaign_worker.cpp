#include "fuzz/campaign/campaign_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "engine/runtime/child.h"

namespace assay::fuzz {
namespace {

// How often what fails on a device is tried again there, to tell what is flaky.
constexpr int kRepeats = 5;
constexpr const char* kSim = "sim:0";

}  // namespace

std::string answer_of(const Outcome& outcome) {
  if (!outcome.malformed.empty()) return "malformed";
  if (!outcome.findings.empty()) return "fail";
  return outcome.unknown.empty() ? "pass" : "unknown";
}

bool has_same(const Outcome& outcome, const Finding& finding) {
  return std::ranges::any_of(outcome.findings,
                             [&](const Finding& f) { return is_same(f, finding); });
}

std::unique_ptr<TrialChild> Children::take() {
  const std::lock_guard lock(mutex_);
  if (!resting_.empty()) {
    std::unique_ptr<TrialChild> child = std::move(resting_.back());
    resting_.pop_back();
    return child;
  }
  const std::string log = fmt::format("{}/child-{}.log", folder_, begun_++);
  return std::make_unique<TrialChild>(command_, log, limit_ms_);
}

void Children::give(std::unique_ptr<TrialChild> child) {
  const std::lock_guard lock(mutex_);
  resting_.push_back(std::move(child));
}

Tried CampaignWorker::operator()(int64_t number) {
  if (is_over_()) return {};
  if (number >= first_ + std::ssize(together_)) make_until(CaseSource::until(number), number);
  Made& made = together_[static_cast<size_t>(number - first_)];
  if (made.before) return std::move(*made.before);
  Tried result = try_case(made);
  ahead_.add(number, result);
  return result;
}

Tried CampaignWorker::try_case(Made& made) {
  Tried tried;
  tried.c = std::move(made.c);
  const int64_t begin = runtime::now_ns();
  tried.outcome = child_->run(tried.c.what);
  const int64_t ns = runtime::now_ns() - begin;
  int64_t known = 0;
  for (const auto& [part, part_ns] : tried.outcome.spent) known += part_ns;
  tried.outcome.spent["other"] = std::max<int64_t>(0, ns - known);
  tried.outcome.spent["generate"] = made.generate_ns;
  if (made.build_ns != 0) tried.outcome.spent["build"] = made.build_ns;
  tried.ms = static_cast<double>(ns + made.build_ns) * 1e-6;
  repeat(tried);
  tried.is_done = true;
  return tried;
}

// Makes the cases that are tried next; those on drivers have their kernels compiled together.
void CampaignWorker::make_until(int64_t end, int64_t first) {
  end = std::min(end, end_);
  first_ = first;
  together_.clear();
  for (int64_t number = first; number < end; number++) {
    const int64_t begin = runtime::now_ns();
    Made& made = together_.emplace_back();
    made.c = source_.make(number);
    made.before = ahead_.find(number, made.c);
    made.generate_ns = runtime::now_ns() - begin;
  }
  std::vector<const Case*> cases;
  for (const Made& m : together_) {
    if (!is_simulated(m.c.what.device) && !m.before) cases.push_back(&m.c.what);
  }
  if (cases.size() < 2) return;
  const int64_t begin = runtime::now_ns();
  child_->foresee(cases);
  const int64_t each = (runtime::now_ns() - begin) / std::ssize(cases);
  for (Made& m : together_) {
    if (!is_simulated(m.c.what.device)) m.build_ns = each;
  }
}

// What fails on a device may do so by chance; simulated ones and the compiler have none.
void CampaignWorker::repeat(Tried& tried) {
  if (tried.outcome.findings.empty()) return;
  const Finding& finding = tried.outcome.findings.front();
  const Case& c = tried.c.what;
  const bool is_driver = !is_simulated(c.device) && finding.stage == "device";
  const bool is_crash = is_of_process(finding) && finding.shape.starts_with("crash");
  if (!is_driver && !is_crash) return;
  int again = 0;
  for (int i = 0; i < kRepeats; ++i) again += has_same(child_->run(c, true), finding) ? 1 : 0;
  tried.rate = static_cast<double>(again) / kRepeats;
  if (is_simulated(c.device)) return;
  Case there = c;
  there.device = kSim;
  tried.on_sim = answer_of(child_->run(there, true));
}

}  // namespace assay::fuzz
