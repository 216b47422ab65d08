#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "props/schedule/kernel_version.h"

namespace assay::props {

// The calls of a LINEAR, one after the other as they stand, as kernels of the graph that it was
// made from: whether each finds the versions that it takes.
class ListReplay {
 public:
  // One kernel runs on the wrong side of another, by what versions say of them.
  struct Fault {
    std::string_view kind;  // "RAW", "WAR", "WAW"
    int32_t earlier = 0;    // the kernel that must run first; -1 where it is one after the list
    int32_t later = 0;
    int32_t buffer = 0;
    int32_t version = 0;  // that one of them takes or makes
  };

  ListReplay(KernelVersions& graph, uop::Ref linear);

  // The kernel that the call at this place of the list is; -1 where the graph has none for it.
  const std::vector<int32_t>& kernels() const { return kernel_at_; }
  const std::vector<int32_t>& places() const {
    return place_of_;
  }  // by kernel; -1: not in the list
  const std::vector<Fault>& faults() const { return faults_; }  // the first of them
  // Kernels that are missing, calls that are none of the graph: "" where there are neither.
  const std::string& mismatch() const { return mismatch_; }

 private:
  bool run(int32_t kernel, bool report);
  void note(const Fault& fault, bool report);
  void finish();

  const KernelVersions& graph_;
  std::vector<NumberSet> done_;  // by buffer, of its writers
  std::vector<int32_t> kernel_at_;
  std::vector<int32_t> place_of_;
  std::vector<Fault> faults_;
  bool is_right_ = true;  // what run() found last
  std::string mismatch_;
};

}  // namespace assay::props
