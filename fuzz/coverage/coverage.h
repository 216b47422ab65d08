#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/uop/rewrite.h"
#include "engine/uop/watch.h"

namespace assay::fuzz {

// Something that a compilation did, by number: a small integer, the same in every run of one build.
using Feature = uint32_t;

// What there is to be done.
enum class FeatureKind : uint8_t {
  Rule,      // a rule fired
  RulePair,  // two rules fired, one right after the other in one pass
  PassOp,    // a pass changed a graph, in which the operation stands now
  TypeOp,    // a kernel computes the operation at a type
  Opt,       // a kernel is made with an opt of a kind, and memory or barriers that follow
  Schedule,  // how many kernels, copies, edges of each kind a schedule has
  Plan,      // how many arenas, buffers in them and reuse edges a plan has
  Cache,     // what became of a look-up
};
inline constexpr int kFeatureKinds = 8;

// All features are below.
Feature feature_count();
FeatureKind kind_of(Feature f);
std::string_view to_text(FeatureKind kind);
// "rule div_mod.mod_below", "devectorize: where", "RAW edges: 5 to 8". A report lists them.
std::string to_text(Feature f);
// The feature that has this text, if one has.
std::optional<Feature> feature_named(std::string_view text);
// Whether what was never seen of a kind is worth listing: most combinations cannot be.
bool is_listed(FeatureKind kind);
// All features of a kind that can be listed: those of rules, passes at work, opts.
std::vector<Feature> all_features(FeatureKind kind);

// Collects the features of what is compiled.
class Coverage : public uop::Watch {
 public:
  Coverage();

  using Watch::seen;
  void seen(const uop::RuleSeen& seen) override;
  void seen(const uop::PassSeen& seen) override;
  void seen(const schedule::CacheSeen& seen) override;
  void seen(const schedule::ScheduleSeen& seen) override;
  void seen(const schedule::PlanSeen& seen) override;
  void seen(const codegen::KernelSeen& seen) override;

  // Those since the last call, in rising order.
  std::vector<Feature> take();

 private:
  void add(Feature f);
  void add_count(FeatureKind kind, uint32_t what, int64_t count);

  std::vector<uint64_t> is_seen_;  // a bit a feature
  std::vector<Feature> features_;
  uint32_t last_rule_;  // that fired in this pass
};

// All that was ever seen.
class Seen {
 public:
  // How many of them are new.
  size_t add(std::span<const Feature> features);
  bool has(Feature f) const;
  size_t size() const { return size_; }
  // Those of a kind that were never seen, of those that can be listed.
  std::vector<Feature> missing(FeatureKind kind) const;

 private:
  std::vector<uint64_t> bits_;
  size_t size_ = 0;
};

}  // namespace assay::fuzz
