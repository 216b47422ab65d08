#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/signature.h"
#include "engine/schedule/calls.h"
#include "engine/schedule/plan.h"

namespace assay::runtime {

using schedule::Lane;

// `bytes` bytes of a BUFFER, from `offset` on.
struct Part {
  uop::Ref buffer = nullptr;
  int64_t offset = 0;
  int64_t bytes = 0;
};
// What an argument of a call is: a BUFFER, or a part of an arena (schedule/README.md, Forms).
Result<Part> part_of(uop::Graph& g, uop::Ref argument, Variables variables);

// Something to do on one queue of one device: a kernel, or one half of a copy.
struct Step {
  enum class Kind : uint8_t { Launch, Read, Write };
  Kind kind = Kind::Launch;
  int32_t call = 0;  // its place in the LINEAR
  int32_t device = 0;
  Lane lane = Lane::Compute;
  std::vector<Part> parts;     // Launch: by slot; Read, Write: the one
  std::vector<int32_t> after;  // steps that must be done before, each once
};

// A LINEAR as steps, in an order in which it can run.
struct Steps {
  std::vector<std::string_view> devices;  // names, by first use
  std::vector<Step> steps;
  int kernels = 0;
  int copies = 0;
};

// `order` names all calls, once each and as the edges allow; where it is empty they stand in order.
// A copy is two steps: the reading one waits for what the call waits for, and who waits for the
// call waits for the writing one.
Result<Steps> steps_of(uop::Graph& g, uop::Ref linear, Variables variables,
                       std::span<const int> order = {});

}  // namespace assay::runtime
