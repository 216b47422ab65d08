#include "engine/uop/rewrite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "engine/check.h"

namespace assay::uop {

// One rewrite of one graph. A node is settled when its result is known, and open while that is
// being worked out: to start on an open node is to run in a circle.
class Rewriter {
 public:
  explicit Rewriter(Run& run) : run_(run) {}

  Result<Ref> rewrite(std::span<const RuleSet* const> sets, Ref root, RewriteOptions options) {
    const std::vector<Ref> order = toposort(run_.graph_, root, options.extent);
    run_.visits_ += order.size();
    options_ = options;
    take_sets(sets);
    OpSet ops;
    for (const Ref u : order) ops.insert(u->op);
    if (!roots_.meets(ops)) return root;
    budget_ = run_.firings_ + options_.firings_a_node * order.size();
    stack_.clear();
    fired_.clear();
    trouble_.clear();
    done_.clear();
    open_.clear();
    if (options_.order == Order::TopDown) {
      resolve(root);
    } else {
      for (size_t i = 0; i < order.size() && trouble_.empty(); i++) settle(order[i]);
    }
    if (!trouble_.empty()) return Error{trouble_, 0, 0};
    return done_.at(root);
  }

 private:
  enum class State : uint8_t { Start, Sources, Replaced };
  struct Frame {
    Ref u;
    Ref now;      // what u has become so far
    Ref rebuilt;  // u on the results of its sources
    State state;
  };
  struct Fired {
    const RuleSet* set;
    const Rule* rule;
  };
  struct Row {
    const RuleSet* set;
    const RuleSet::Entry* entry;
  };

  // A substitute is tried just before the set it is named for.
  void take_sets(std::span<const RuleSet* const> sets) {
    std::vector<const RuleSet*> all(sets.begin(), sets.end());
    for (const RuleSet* substitute : run_.switches_.substitutes) {
      const auto same = [&](const RuleSet* set) { return set->name() == substitute->name(); };
      const auto at = std::find_if(all.begin(), all.end(), same);
      if (at != all.end()) all.insert(at, substitute);
    }
    if (all == sets_) return;
    sets_ = std::move(all);
    roots_ = {};
    for (const RuleSet* set : sets_) roots_ = roots_ | set->roots();
    collected_ = {};
  }

  // The rows of all sets for nodes of this operation, in the order in which they are tried.
  const std::vector<Row>& rows_of(Op op) {
    std::vector<Row>& rows = rows_[static_cast<int>(op)];
    if (collected_.has(op)) return rows;
    collected_.insert(op);
    rows.clear();
    for (const RuleSet* set : sets_) {
      for (const RuleSet::Entry& entry : set->entries(op)) rows.push_back({set, &entry});
    }
    return rows;
  }

  size_t first(Ref u) const { return first_source(u, options_.extent); }

  // Bottom-up: u, whose sources are settled.
  void settle(Ref u) {
    if (done_.has(u)) return;
    const Ref rebuilt = rebuild(u);
    if (const Ref* known = rebuilt == u ? nullptr : done_.find(rebuilt)) {
      done_.set(u, Ref{*known});
      return;
    }
    const size_t fired_before = fired_.size();
    Ref result = fire(rebuilt);
    if (result == nullptr) {
      result = rebuilt;
    } else {
      open(u, fired_before);
      open(rebuilt, fired_before);
      result = resolve(result);
    }
    done_.set(rebuilt, result);
    done_.set(u, result);
  }

  // From the firing of this number on, the result of u is being worked out.
  void open(Ref u, size_t firing) { open_.set(u, static_cast<uint32_t>(firing)); }

  Ref resolve(Ref u) {
    push(u);
    while (!stack_.empty() && trouble_.empty()) step(stack_.back());
    return trouble_.empty() ? done_.at(u) : u;
  }

  void push(Ref u) { stack_.push_back({u, u, nullptr, State::Start}); }

  void step(Frame& frame) {
    switch (frame.state) {
      case State::Start: return start(frame);
      case State::Sources: return take_sources(frame);
      case State::Replaced: return finish(frame, done_.at(frame.now));
    }
  }

  void start(Frame& frame) {
    if (done_.has(frame.u)) return stack_.pop_back();
    if (const uint32_t* since = open_.find(frame.u)) {
      trouble_ = fmt::format("rules run in a circle: {}", names_since(*since));
      return;
    }
    open(frame.u, fired_.size());
    if (options_.order == Order::TopDown) {
      while (const Ref next = trouble_.empty() ? fire(frame.now) : nullptr) frame.now = next;
    }
    frame.state = State::Sources;
    const Ref now = frame.now;  // pushing may move the frame
    for (size_t i = now->src.size(); i-- > first(now);) {
      if (!done_.has(now->src[i])) push(now->src[i]);
    }
  }

  void take_sources(Frame& frame) {
    run_.visits_++;
    frame.rebuilt = rebuild(frame.now);
    if (options_.order == Order::TopDown) return finish(frame, frame.rebuilt);
    if (const Ref* known = done_.find(frame.rebuilt)) return finish(frame, *known);
    const Ref next = fire(frame.rebuilt);
    if (next == nullptr) return finish(frame, frame.rebuilt);
    frame.now = next;
    frame.state = State::Replaced;
    push(next);
  }

  void finish(const Frame& frame, Ref result) {
    if (options_.order == Order::BottomUp && frame.rebuilt != nullptr) {
      done_.set(frame.rebuilt, result);
    }
    done_.set(frame.u, result);
    stack_.pop_back();
  }

  // u on the results of its sources, which are settled.
  Ref rebuild(Ref u) {
    sources_.assign(u->src.begin(), u->src.end());
    bool changed = false;
    for (size_t i = first(u); i < sources_.size(); i++) {
      const Ref result = done_.at(sources_[i]);
      changed = changed || result != sources_[i];
      sources_[i] = result;
    }
    return changed ? run_.graph_.with_sources(u, sources_) : u;
  }

  // The replacement by the first rule that fires on u, or null.
  Ref fire(Ref u) {
    if (run_.firings_ >= run_.switches_.limit) return nullptr;
    if (!roots_.has(u->op)) return nullptr;
    const Op first = u->src.empty() ? Op::Noop : u->src[0]->op;
    const Op second = u->src.size() < 2 ? Op::Noop : u->src[1]->op;
    OpSet any = u->src.empty() ? OpSet::all() : OpSet{};
    for (const Ref s : u->src) any.insert(s->op);
    const DType type = judged_type(u);
    for (const auto& [set, entry] : rows_of(u->op)) {
      const bool may_match = entry->over.has(type) && entry->first.has(first) &&
                             entry->second.has(second) && entry->any.meets(any);
      if (!may_match) continue;
      const Rule& rule = *entry->compiled->rule;
      // A `by` rule may fire others on its way, which one that is off must not.
      if (rule.by != nullptr && run_.is_off(*set, rule)) continue;
      const Ref after = apply(run_, *entry, u);
      if (after == nullptr || after == u || run_.is_off(*set, rule)) continue;
      if (run_.firings_ >= run_.switches_.limit) return nullptr;  // used up on the way
      return fired(*set, rule, u, after);
    }
    return nullptr;
  }

  Ref fired(const RuleSet& set, const Rule& rule, Ref before, Ref after) {
    ASSAY_CHECK(before->dtype == after->dtype, "{} turns {} into {}", full_name(set, rule),
                to_text(before->dtype), to_text(after->dtype));
    run_.firings_++;
    fired_.push_back({&set, &rule});
    if (run_.watch_ != nullptr) {
      run_.watch_->seen(RuleSeen{run_.graph_, set, rule, before, after, run_.firings_});
    }
    if (run_.firings_ > budget_) {
      const size_t recent = fired_.size() > 32 ? fired_.size() - 32 : 0;
      trouble_ = fmt::format("rules do not come to an end: {}", names_since(recent));
    }
    return after;
  }

  std::string names_since(size_t first) const {
    std::vector<std::string> names;
    for (size_t i = first; i < fired_.size(); i++) {
      std::string name = full_name(*fired_[i].set, *fired_[i].rule);
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  Run& run_;
  RewriteOptions options_;
  std::vector<const RuleSet*> sets_;
  OpSet roots_;      // the operations that they look at
  OpSet collected_;  // those whose rows are in rows_
  std::array<std::vector<Row>, kOpCount> rows_;
  uint64_t budget_ = 0;
  NodeMap<Ref> done_;
  NodeMap<uint32_t> open_;
  std::vector<Frame> stack_;
  std::vector<Ref> sources_;
  std::vector<Fired> fired_;
  std::string trouble_;
};

Run::~Run() = default;

Run::Run(Graph& graph, Switches switches, Watch* watch, const Target& target)
    : graph_(graph), switches_(std::move(switches)), watch_(watch), target_(target) {
  for (const RuleSet* set : switches_.substitutes) {
    for (const Rule& rule : set->rules()) switched_off_.push_back(full_name(*set, rule));
  }
}

bool Run::is_off(const RuleSet& set, const Rule& rule) const {
  if (switches_.off.empty() && switched_off_.empty()) return false;
  const std::string name = full_name(set, rule);
  if (std::find(switches_.off.begin(), switches_.off.end(), name) != switches_.off.end())
    return true;
  const auto& substitutes = switches_.substitutes;
  const bool is_substitute =
      std::find(substitutes.begin(), substitutes.end(), &set) != substitutes.end();
  return !is_substitute &&
         std::find(switched_off_.begin(), switched_off_.end(), name) != switched_off_.end();
}

Result<Ref> Run::rewrite(std::span<const RuleSet* const> sets, Ref root, RewriteOptions options) {
  if (depth_ == rewriters_.size()) rewriters_.push_back(std::make_unique<Rewriter>(*this));
  Rewriter& rewriter = *rewriters_[depth_++];
  Result<Ref> result = rewriter.rewrite(sets, root, options);
  depth_--;
  return result;
}

std::optional<std::string> Switches::unknown_rule(std::span<const RuleSet* const> sets) const {
  for (const std::string& name : off) {
    const bool known = std::any_of(sets.begin(), sets.end(), [&](const RuleSet* set) {
      return std::any_of(set->rules().begin(), set->rules().end(),
                         [&](const Rule& rule) { return full_name(*set, rule) == name; });
    });
    if (!known) return name;
  }
  return std::nullopt;
}

std::string Switches::digest() const {
  std::vector<std::string> names = off;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text = fmt::format("off={};limit={}", fmt::join(names, ","), limit);
  for (const RuleSet* set : substitutes) {
    for (const Rule& rule : set->rules()) {
      text += fmt::format(";{}={}=>{}if{}", full_name(*set, rule),
                          rule.by != nullptr ? std::string(rule.says) : to_text(rule.match),
                          rule.by != nullptr ? "" : to_text(rule.replace),
                          rule.when.empty() ? "" : to_text(rule.when));
    }
  }
  return text;
}

Ref Rewritten::operator()(Ref u) {
  const auto known = known_.find(u);
  if (known != known_.end()) return known->second;
  const Result<Ref> result = run_.rewrite(sets_, u, {.extent = Extent::Term});
  if (!result.ok() && !trouble_) trouble_ = result.error();
  const Ref after = result.ok() ? result.value() : u;
  known_[u] = after;
  known_[after] = after;
  return after;
}

}  // namespace assay::uop
