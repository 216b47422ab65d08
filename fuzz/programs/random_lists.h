#pragma once

#include "engine/codegen/opt.h"
#include "engine/codegen/random_opts.h"
#include "engine/codegen/seen.h"
#include "engine/uop/watch.h"

namespace assay::fuzz {

// Gives each kernel a legal list of its own, and counts those that share LOCAL storage.
class RandomLists : public uop::Watch {
 public:
  RandomLists(const uop::Target& target, uint64_t seed) : target_(target), random_(seed) {}

  bool edits() const override { return true; }
  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override {
    if (stage != "simplify_ranges") return u;
    const auto opts = codegen::random_opts(g, target_, u, random_);
    return opts.ok() ? codegen::with_opts(g, u, opts.value()) : u;
  }
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    ++kernels;
    for (const uop::Ref u : seen.linear->src) {
      if (u->op != uop::Op::Barrier) continue;
      ++sharing;
      return;
    }
  }

  int kernels = 0;
  int sharing = 0;

 private:
  const uop::Target& target_;
  uop::Random random_;
};

}  // namespace assay::fuzz
