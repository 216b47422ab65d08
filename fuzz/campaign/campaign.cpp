#include "fuzz/campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/runtime/child.h"
#include "fuzz/campaign/finding_folder.h"
#include "fuzz/campaign/stream.h"
#include "fuzz/shrink/shrink.h"
#include "fuzz/trial/outcome_text.h"

namespace assay::fuzz {
namespace {

using reports::CaseRecord;
using reports::FindingRecord;
using reports::Record;

// What is behind failures of one kind is looked for so often, and then of one in so many: mostly it
// is the same again, but it need not be.
constexpr int64_t kLookedInto = 24;
constexpr int64_t kLookedIntoEvery = 16;
// A process that crashes is started anew for each trial.
constexpr int64_t kCrashes = 200;

std::string failure_of(const Finding& f) {
  return fmt::format("{} | {} | {}", f.judge, f.stage, f.shape);
}

Cause cause_of(const FindingRecord& r) {
  Blame blame;
  blame.pass = r.pass;
  blame.rule = r.rule;
  return fuzz::cause_of({r.judge, r.stage, r.shape, r.evidence}, blame);
}

// A feature by its name within its group.
std::string name_of(Feature f) { return to_text(f).substr(to_text(kind_of(f)).size() + 1); }

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
      children_(options_.child, options_.out, options_.limit_ms),
      digest_(std::make_unique<Digest>()) {
  progress_.all_rules = std::ssize(all_features(FeatureKind::Rule));
}

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
  progress_.flaky += r.answer == "flaky" ? 1 : 0;
  progress_.unknown += r.answer == "unknown" ? 1 : 0;
  progress_.kept += r.is_kept ? 1 : 0;
  progress_.kernels += r.kernels;
  progress_.sharing += r.sharing;
  if (!r.failure.empty()) failures_[r.failure]++;
  next_ = r.number + 1;
}

// Whether no case before this one had the feature.
bool Campaign::take_in(Feature f, int64_t number) {
  if (seen_.add({&f, 1}) == 0) return false;
  first_[f] = number;
  progress_.rules += kind_of(f) == FeatureKind::Rule ? 1 : 0;
  return true;
}

Result<bool> Campaign::recall(const CaseRecord& record) {
  count(record);
  for (const std::string& name : record.novel) {
    if (const std::optional<Feature> f = feature_named(name)) take_in(*f, record.number);
  }
  if (!record.is_kept) return true;
  ASSAY_TRY(text, journal_.read(kept_file(record.number)));
  ASSAY_TRY(c, case_from_text(text));
  source_.keep(record.number, c);
  return true;
}

// Takes in what an earlier run of this campaign did.
Result<bool> Campaign::recall(const std::vector<Record>& records) {
  for (const Record& record : records) {
    const bool is_fold = std::holds_alternative<reports::Begin>(record) ||
                         std::holds_alternative<CaseRecord>(record) ||
                         std::holds_alternative<FindingRecord>(record);
    if (!is_fold) continue;
    digest_->add(record);
    if (const auto* begin = std::get_if<reports::Begin>(&record)) {
      const reports::Begin& now = options_.begin;
      if (begin->seed != now.seed || begin->devices != now.devices || begin->corpus != now.corpus) {
        return Error{fmt::format("{} was begun with seed {} on {} over '{}'", journal_.folder(),
                                 begin->seed, fmt::join(begin->devices, ", "), begin->corpus)};
      }
    }
    if (const auto* c = std::get_if<CaseRecord>(&record)) {
      const Result<bool> done = recall(*c);
      if (!done.ok()) return done;
    }
    if (const auto* f = std::get_if<FindingRecord>(&record)) {
      causes_[cause_of(*f)] = {f->folder, f->rate < 1};
      progress_.causes += f->rate < 1 ? 0 : 1;
    }
  }
  progress_.features = static_cast<int64_t>(seen_.size());
  progress_.before = progress_.cases;
  return true;
}

Result<bool> Campaign::begin() {
  ASSAY_TRY(records, journal_.open(options_.out, options_.resume));
  progress_.to_replay = source_.replayed();
  Result<bool> begun = records.empty() ? add(options_.begin) : recall(records);
  if (!begun.ok()) return begun;
  const int64_t known_from = records.empty() ? std::numeric_limits<int64_t>::max() : next_;
  return ahead_.open(options_.out + "/ahead", known_from);
}

Result<bool> Campaign::explore(const std::atomic<bool>& stop,
                               const std::function<void(const Progress&)>& show) {
  const int64_t end =
      options_.programs > 0 ? options_.programs : std::numeric_limits<int64_t>::max();
  Result<bool> result = true;
  const auto is_late = [&] {
    return stop || (options_.minutes > 0 && seconds() >= options_.minutes * 60);
  };
  const auto make_worker = [&] { return CampaignWorker(source_, children_, ahead_, end, is_late); };
  stream<Tried>(next_, end, options_.jobs, CaseSource::needs, CaseSource::until, make_worker,
                [&](int64_t number, const Tried& tried) {
                  if (!tried.is_done) return false;
                  result = fold(number, tried);
                  progress_.seconds = seconds();
                  show(progress_);
                  return result.ok() && !stop && !is_over();
                });
  return result;
}

Result<bool> Campaign::fold(int64_t number, const Tried& tried) {
  const Outcome& o = tried.outcome;
  CaseRecord record;
  record.number = number;
  record.source = tried.c.source;
  record.device = tried.c.what.device;
  record.profile = tried.c.what.profile;
  record.answer = tried.rate < 1 ? "flaky" : answer_of(o);
  record.kernels = o.kernels;
  record.sharing = o.sharing;
  record.obligations = o.obligations;
  record.elements = o.elements;
  record.unspecified = o.unspecified;
  record.ambiguous = o.ambiguous;
  record.unknown = o.unknown;
  record.ms = tried.ms;
  for (const Feature f : o.features) {
    if (take_in(f, number)) record.novel.push_back(to_text(f));
  }
  progress_.features = static_cast<int64_t>(seen_.size());
  for (const auto& [part, ns] : o.spent) progress_.spent[part] += ns / 1000;
  record.is_kept =
      !record.novel.empty() && record.answer == "pass" && CaseSource::is_parent(tried.c.what);
  // Files stand before the record: a campaign that is killed between the two writes them again.
  if (record.is_kept) {
    const Result<bool> written = journal_.write(kept_file(number), to_text(tried.c.what));
    if (!written.ok()) return written;
    source_.keep(number, tried.c.what);
  }
  if (!o.findings.empty()) {
    const Result<bool> done = look_into(number, tried, record);
    if (!done.ok()) return done;
  }
  count(record);
  const Result<bool> added = add(record);
  return added.ok() ? ahead_.drop(number) : added;
}

std::vector<std::string> Campaign::known_causes() const {
  std::vector<std::string> texts;
  texts.reserve(causes_.size());
  for (const auto& [cause, known] : causes_) texts.push_back(to_text(cause));
  return texts;
}

// What is behind a failure, and whether it is known.
Result<bool> Campaign::look_into(int64_t number, const Tried& tried, CaseRecord& record) {
  const Finding& finding = tried.outcome.findings.front();
  const bool is_flaky = tried.rate < 1;
  record.failure = fmt::format("{}{}", is_flaky ? "flaky | " : "", failure_of(finding));
  const auto before = failures_.find(record.failure);
  const int64_t times = before == failures_.end() ? 0 : before->second;
  if (times >= kLookedInto && times % kLookedIntoEvery != 0) return true;
  const Case& c = tried.c.what;
  Investigated found = {c, finding, {}, 0, false};
  std::unique_ptr<TrialChild> child = children_.take();
  const int64_t begin = runtime::now_ns();
  if (is_flaky || is_of_process(finding)) {
    found.blame.stage = is_flaky ? "flaky" : "process";
    found.blame.evidence = finding.evidence;
    found.blame.title = fmt::format("{}: {}", finding.shape, finding.evidence.substr(0, 160));
    if (!is_flaky && finding.shape.starts_with("crash") && c.is_program()) {
      const auto still_fails = [&](const Case& smaller) {
        return has_same(child->run(smaller, true), finding);
      };
      found.smallest = shrink(c, still_fails, {.trials = kCrashes}).smallest;
    }
  } else if (std::optional<Investigated> got = child->investigate(c, finding, known_causes())) {
    found = std::move(*got);
  } else {
    found.blame.stage = finding.stage;
    found.blame.title = fmt::format("not shrunk: {}", finding.evidence.substr(0, 160));
  }
  children_.give(std::move(child));
  progress_.spent["investigate"] += (runtime::now_ns() - begin) / 1000;
  FindingRecord what;
  what.number = number;
  what.judge = found.finding.judge;
  what.stage = found.finding.stage;
  what.shape = found.finding.shape;
  what.pass = found.blame.pass.empty() ? found.blame.stage : found.blame.pass;
  what.rule = found.blame.rule;
  what.rate = tried.rate;
  what.on_sim = tried.on_sim;
  const auto known = causes_.find(cause_of(what));
  if (known != causes_.end()) {
    record.finding = known->second.folder;
    return true;
  }
  what.folder = fmt::format("findings/{:04}", causes_.size() + 1);
  record.finding = what.folder;
  causes_[cause_of(what)] = {what.folder, is_flaky};
  progress_.causes += is_flaky ? 0 : 1;
  return write_finding(tried.c, tried, found, std::move(what));
}

Result<bool> Campaign::write_finding(const SourcedCase& c, const Tried& tried,
                                     const Investigated& found, FindingRecord record) {
  record.evidence = found.finding.evidence;
  record.blamed = found.blame.stage;
  record.title = found.blame.title;
  record.program = to_text(found.smallest);
  record.device = c.what.device;
  record.statements = std::ssize(c.what.program.statements);
  record.command = fmt::format("assay {} {}", options_.trial, smallest_file(found.smallest));
  const std::vector<Journal::File> files =
      finding_files(c.what, tried.outcome.findings.front(), found, record, options_.begin);
  Result<bool> written = journal_.write_folder(record.folder, files);
  if (!written.ok()) return written;
  return add(record);
}

// What was done, and what never was.
Result<bool> Campaign::write_coverage() {
  std::vector<reports::CoverageRecord> groups(kFeatureKinds);
  for (int k = 0; k < kFeatureKinds; k++) {
    const auto kind = static_cast<FeatureKind>(k);
    reports::CoverageRecord& group = groups[static_cast<size_t>(k)];
    group.group = to_text(kind);
    if (!is_listed(kind)) continue;
    for (const Feature f : seen_.missing(kind)) group.never.push_back(name_of(f));
  }
  for (const auto& [f, number] : first_) {
    reports::CoverageRecord& group = groups[static_cast<size_t>(kind_of(f))];
    if (kind_of(f) == FeatureKind::RulePair) {
      group.seen["pairs"]++;
    } else {
      group.seen[name_of(f)] = number;
    }
  }
  for (const reports::CoverageRecord& group : groups) {
    const Result<bool> added = journal_.add(group);
    if (!added.ok()) return added;
  }
  return true;
}

Result<reports::End> Campaign::run(const std::atomic<bool>& stop,
                                   const std::function<void(const Progress&)>& show) {
  start_ns_ = runtime::now_ns();
  const Result<bool> begun = begin();
  if (!begun.ok()) return begun.error();
  if (!stop && !is_over()) {
    const Result<bool> done = explore(stop, show);
    if (!done.ok()) return done.error();
  }
  children_.end();
  ahead_.end();
  const Result<bool> covered = write_coverage();
  if (!covered.ok()) return covered.error();
  reports::End end;
  end.digest = digest_->text();
  end.cases = progress_.cases;
  end.seconds = seconds();
  end.is_interrupted = stop;
  end.spent = progress_.spent;
  const Result<bool> added = journal_.add(end);
  if (!added.ok()) return added.error();
  return end;
}

}  // namespace assay::fuzz
