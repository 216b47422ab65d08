#include "fuzz/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/runtime/child.h"
#include "fuzz/in_order.h"
#include "fuzz/outcome_text.h"

namespace assay::fuzz {
namespace {

using reports::CaseRecord;
using reports::FindingRecord;
using reports::Record;

// Cases that are made from one state of what is known.
constexpr int64_t kRound = 256;
// How often a finding on a device is tried again, to tell what is flaky.
constexpr int kRepeats = 5;

std::string answer_of(const Outcome& outcome) {
  if (!outcome.malformed.empty()) return "malformed";
  if (!outcome.findings.empty()) return "fail";
  return outcome.unknown.empty() ? "pass" : "unknown";
}

// What tells one cause from another.
std::string cause_of(const FindingRecord& r) {
  return fmt::format("{} | {} | {} | {}", r.judge, r.pass, r.rule, r.shape);
}

}  // namespace

struct Campaign::Digest {
  Digest() { XXH3_128bits_reset(&state); }
  void add(const Record& record) {
    const std::string line = reports::to_line(record, false);
    XXH3_128bits_update(&state, line.data(), line.size());
  }
  std::string text() const {
    const XXH128_hash_t h = XXH3_128bits_digest(&state);
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
  }
  XXH3_state_t state;
};

Campaign::Campaign(CampaignOptions options)
    : options_(std::move(options)),
      source_(options_.source, options_.saved),
      digest_(std::make_unique<Digest>()) {}

Campaign::~Campaign() = default;

double Campaign::seconds() const {
  return static_cast<double>(runtime::now_ns() - start_ns_) * 1e-9;
}

bool Campaign::is_over() const {
  if (options_.programs > 0 && next_ >= options_.programs) return true;
  return options_.minutes > 0 && seconds() >= options_.minutes * 60;
}

Result<bool> Campaign::add(const Record& record) {
  digest_->add(record);
  return journal_.add(record);
}

void Campaign::count(const CaseRecord& r) {
  progress_.cases++;
  progress_.replayed += r.number < source_.replayed() ? 1 : 0;
  progress_.failed += r.answer == "fail" ? 1 : 0;
  for (const auto& [cause, n] : r.unknown) progress_.unknown += n;
  progress_.kernels += r.kernels;
  progress_.sharing += r.sharing;
}

// Takes in what an earlier run of this campaign did.
Result<bool> Campaign::recall(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (std::holds_alternative<reports::End>(record)) continue;
    digest_->add(record);
    if (const auto* begin = std::get_if<reports::Begin>(&record)) {
      const reports::Begin& now = options_.begin;
      if (begin->seed != now.seed || begin->devices != now.devices || begin->corpus != now.corpus) {
        return Error{fmt::format("{} was begun with seed {} on {} over '{}'", journal_.folder(),
                                 begin->seed, fmt::join(begin->devices, ", "), begin->corpus)};
      }
    }
    if (const auto* c = std::get_if<CaseRecord>(&record)) {
      count(*c);
      next_ = c->number + 1;
    }
    if (const auto* f = std::get_if<FindingRecord>(&record)) {
      if (causes_.insert(cause_of(*f)).second) progress_.causes++;
    }
  }
  progress_.before = progress_.cases;
  return true;
}

Result<bool> Campaign::begin() {
  ASSAY_TRY(records, journal_.open(options_.out, options_.resume));
  progress_.to_replay = source_.replayed();
  if (!records.empty()) return recall(records);
  return add(options_.begin);
}

std::unique_ptr<TrialChild> Campaign::take_child() {
  const std::lock_guard lock(mutex_);
  if (!resting_.empty()) {
    std::unique_ptr<TrialChild> child = std::move(resting_.back());
    resting_.pop_back();
    return child;
  }
  logs_.push_back(fmt::format("{}/child-{}.log", options_.out, logs_.size()));
  return std::make_unique<TrialChild>(options_.child, logs_.back(), options_.limit_ms);
}

void Campaign::give_child(std::unique_ptr<TrialChild> child) {
  const std::lock_guard lock(mutex_);
  resting_.push_back(std::move(child));
}

Result<bool> Campaign::round(const std::atomic<bool>& stop,
                             const std::function<void(const Progress&)>& show) {
  int64_t count = kRound - next_ % kRound;
  if (options_.programs > 0) count = std::min(count, options_.programs - next_);
  std::vector<SourcedCase> cases;
  for (int64_t i = 0; i < count; ++i) cases.push_back(source_.make(next_ + i));
  struct Tried {
    bool is_done = false;
    Outcome outcome;
    double ms = 0;
  };
  const auto make_worker = [&] {
    // The child goes back when the worker does.
    struct Worker {
      Campaign& campaign;
      const std::vector<SourcedCase>& cases;
      const std::atomic<bool>& stop;
      std::unique_ptr<TrialChild> child;
      Worker(Campaign& c, const std::vector<SourcedCase>& all, const std::atomic<bool>& s)
          : campaign(c), cases(all), stop(s), child(c.take_child()) {}
      Worker(Worker&&) = default;
      ~Worker() {
        if (child != nullptr) campaign.give_child(std::move(child));
      }
      Tried operator()(size_t i) {
        const bool is_late =
            campaign.options_.minutes > 0 && campaign.seconds() >= campaign.options_.minutes * 60;
        if (stop || is_late) return {};
        const int64_t begin = runtime::now_ns();
        Tried tried = {true, child->run(cases[i].what)};
        tried.ms = static_cast<double>(runtime::now_ns() - begin) * 1e-6;
        return tried;
      }
    };
    return Worker(*this, cases, stop);
  };
  Result<bool> result = true;
  bool is_whole = true;
  const int64_t first = next_;
  in_order<Tried>(cases.size(), options_.jobs, make_worker, [&](size_t i, Tried tried) {
    is_whole = is_whole && tried.is_done && result.ok();
    if (!is_whole) return;
    result = fold(first + static_cast<int64_t>(i), cases[i], tried.outcome, tried.ms);
    next_ = first + static_cast<int64_t>(i) + 1;
    progress_.seconds = seconds();
    show(progress_);
  });
  return result;
}

Result<bool> Campaign::fold(int64_t number, const SourcedCase& c, const Outcome& o, double ms) {
  CaseRecord record;
  record.number = number;
  record.source = c.source;
  record.device = c.what.device;
  record.profile = c.what.profile;
  record.answer = answer_of(o);
  record.kernels = o.kernels;
  record.sharing = o.sharing;
  record.obligations = o.obligations;
  record.elements = o.elements;
  record.unspecified = o.unspecified;
  record.ambiguous = o.ambiguous;
  record.unknown = o.unknown;
  record.ms = ms;
  count(record);
  // The finding stands before the case: a campaign that is killed between the two finds it again.
  if (!o.findings.empty()) {
    const Result<bool> done = investigate(number, c, o.findings.front());
    if (!done.ok()) return done;
  }
  return add(record);
}

Result<bool> Campaign::investigate(int64_t number, const SourcedCase& c, const Finding& finding) {
  FindingRecord record;
  record.number = number;
  record.judge = finding.judge;
  record.stage = finding.stage;
  record.shape = finding.shape;
  record.evidence = finding.evidence;
  record.device = c.what.device;
  record.program = to_text(c.what);
  record.title = finding.evidence;
  if (!causes_.insert(cause_of(record)).second) return true;
  progress_.causes++;
  std::unique_ptr<TrialChild> child = take_child();
  int again = 0;
  for (int i = 0; i < kRepeats; ++i) {
    const Outcome repeated = child->run(c.what);
    again += std::ranges::any_of(repeated.findings,
                                 [&](const Finding& f) { return is_same(f, finding); })
                 ? 1
                 : 0;
  }
  give_child(std::move(child));
  record.rate = static_cast<double>(again) / kRepeats;
  record.folder = fmt::format("findings/{:04}", progress_.causes);
  std::vector<Journal::File> files = {{"original.tp", to_text(c.what)},
                                      {"finding.json", to_text(finding) + "\n"},
                                      {"reproduce.sh", "exec assay trial original.tp\n", true}};
  for (const props::Evidence& e : finding.files) files.push_back({e.suffix, e.text});
  const Result<bool> written = journal_.write_folder(record.folder, files);
  if (!written.ok()) return written;
  return add(record);
}

Result<reports::End> Campaign::run(const std::atomic<bool>& stop,
                                   const std::function<void(const Progress&)>& show) {
  start_ns_ = runtime::now_ns();
  const Result<bool> begun = begin();
  if (!begun.ok()) return begun.error();
  while (!stop && !is_over()) {
    const Result<bool> done = round(stop, show);
    if (!done.ok()) return done.error();
  }
  resting_.clear();
  reports::End end;
  end.digest = digest_->text();
  end.cases = progress_.cases;
  end.seconds = seconds();
  end.is_interrupted = stop;
  const Result<bool> added = journal_.add(end);
  if (!added.ok()) return added.error();
  return end;
}

}  // namespace assay::fuzz
