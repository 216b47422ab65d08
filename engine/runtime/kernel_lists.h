#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/opt.h"
#include "engine/result.h"
#include "engine/runtime/devices.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/program/program.h"

namespace assay::runtime {

// Where the opts of a kernel come from that are not left to the heuristic.
struct KernelList {
  std::vector<codegen::Opt> opts;
  std::optional<uint64_t> seed;  // a legal list is drawn in their place
  int line = 0;                  // of the program's hint; 0 where a command says it
};

// Lists of opts from outside, by kernel. Kernels are counted from 0 over all that a program runs,
// copies along with them, as `--emit kernels` shows them.
struct KernelLists {
  std::map<int64_t, KernelList> kernels;
  std::optional<KernelList> others;

  bool empty() const { return kernels.empty() && !others; }
  const KernelList* of(int64_t kernel) const;
  // An error where the program has only `count` kernels and a list is for another.
  Result<bool> within(int64_t count) const;
};

// What a command says, each text one of
//   LIST         "LOCAL(0,8) UPCAST(1,4)", of every kernel
//   none         of every kernel no opts at all
//   random:SEED  of every kernel a legal list of its own
// or one of these after "N:", of kernel N alone.
Result<KernelLists> lists_from_text(std::span<const std::string> texts);
// These, and the hints of a program where they say nothing.
Result<KernelLists> with_hints(KernelLists lists, const tensor::Program& program);

// What the kernels of a call are made for, by its device.
using TargetOf = std::function<Result<const uop::Target*>(std::string_view device)>;
// The targets of devices, which are opened where they are not yet.
TargetOf targets_of(Devices& devices);

// The schedule with these lists beside the names of its kernels, the first of which is kernel
// `first`. Such a kernel has been through the early passes (codegen/pipeline.h): a list counts the
// axes that they leave, as do the lists that are printed. An error names the kernel, the opt and
// what it breaks.
Result<schedule::Schedule> with_lists(uop::Graph& g, const schedule::Schedule& schedule,
                                      const KernelLists& lists, int64_t first,
                                      const TargetOf& target_of, const uop::Switches& switches,
                                      uop::Watch* watch = nullptr);

}  // namespace assay::runtime
