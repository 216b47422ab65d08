#pragma once

#include <string>
#include <vector>

#include "props/kernel/subject.h"

namespace assay::props::kernel {

// Accesses that differ by a constant, with the same barriers around them.
struct AccessClass {
  struct Lane {
    Int128 at;     // bytes, beside what the form says
    Int128 bytes;  // that it touches
    size_t access;
  };
  uop::AddrSpace space;
  int region;
  bool is_write;
  int scope;
  int slot;  // how many barriers, and ends of loops with barriers, stand before it
  uop::Ref gate;
  Form form;  // of its first byte in its region, without a constant
  std::vector<Lane> lanes;
};
std::vector<AccessClass> access_classes(KernelModel& model, bool with_loads);

// How far apart the forms of two classes may be for some of their lanes to overlap.
Interval hull_of(const AccessClass& a, const AccessClass& b);

// That the access is executed: loops go around, branches are taken, its gate holds.
void require_executed(Question& question, KernelModel& model, int side, const Access& access);

// Two accesses that may touch a byte, with nothing between that orders them.
struct Race {
  size_t first, second;  // accesses
  Event events[2];
  Int128 byte = 0;
  Inputs inputs;
};
struct RaceSearch {
  std::vector<Race> races;
  std::map<std::string, int64_t> by_method;  // pairs of classes that were decided to be safe
  std::map<std::string, int64_t> by_cause;   // those that were not
  int64_t alone = 0;                         // storages that no two work-items can race for
};
// Looks at LOCAL storage alone, or at all. Stops after so many races.
RaceSearch find_races(const Subject& subject, bool only_local, size_t most);

}  // namespace assay::props::kernel
