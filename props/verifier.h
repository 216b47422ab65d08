#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/uop/key.h"
#include "props/firings/memo.h"
#include "props/property.h"

namespace assay::props {

// What a property says of one subject: a firing, a pass, a schedule, a plan, a kernel.
struct Judgement {
  std::string_view property;
  std::string subject;  // "kernel 3 r_64_64 LOCAL(0,8)"
  Checked checked;
};

// Shows every stage of a compilation to the properties of that stage. Subjects that are equal but
// for names are judged once.
class Verifier : public uop::Watch {
 public:
  Verifier(std::vector<const Property*> properties, Context context);

  using Watch::seen;
  void seen(const uop::RuleSeen& seen) override;
  void seen(const uop::PassSeen& seen) override;
  void seen(const schedule::CacheSeen& seen) override;
  void seen(const schedule::ScheduleSeen& seen) override;
  void seen(const schedule::PlanSeen& seen) override;
  void seen(const codegen::KernelSeen& seen) override;

  // What kernels are called from now on: the next one that is lowered has this name.
  void name_kernel(std::string name) { kernel_ = std::move(name); }
  // What was judged since the last call, in order; counts begin anew.
  std::vector<Judgement> take();

  Context& context() { return context_; }

 private:
  // A property, and what it was shown.
  struct Subject {
    const Property* property;
    const void* what;
    uop::Key before, after;
    bool operator==(const Subject&) const = default;
  };
  struct SubjectHash {
    size_t operator()(const Subject& s) const {
      return s.before.low ^ s.after.low * 31 ^ std::hash<const void*>()(s.property);
    }
  };

  // Whether there is a property of such a stage.
  template <typename Seen>
  bool asks() const;
  template <typename Seen>
  void judge(const Seen& seen, const void* what, uop::Ref before, uop::Ref after,
             const std::string& subject);

  std::vector<const Property*> properties_;
  // Most see many firings and passes that nobody asks about.
  bool asks_firings_;
  bool asks_passes_;
  Context context_;
  std::unordered_map<Subject, Checked, SubjectHash> known_;  // only searched
  FiringMemo firings_;
  std::vector<Judgement> judgements_;
  std::string kernel_;
  int schedules_ = 0;
  int plans_ = 0;
};

}  // namespace assay::props
