#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/schedule/calls.h"

namespace assay::schedule {

// One kernel must run before another.
struct Dependency {
  int32_t from = 0;
  int32_t to = 0;
  EdgeKind kind = EdgeKind::Raw;
  int32_t version = -1;  // WAR: the version that `from` reads and `to` overwrites
};

// What kernels do to buffers, without their graph. A version is what a buffer holds; kernels are
// given after the versions that they take and before those that they make, so that only overwriting
// can close a circle. All are numbered from 0 in the order given.
//
// Versions of a buffer mostly follow one another. Where they branch, and both branches are made,
// they are joined by a version that names both; kernels of different branches write different
// elements.
class History {
 public:
  // What the buffer holds before any kernel runs.
  int32_t start(int32_t buffer);
  // A kernel takes versions to write over and versions to read; one that it changes in place is
  // both.
  int32_t kernel(std::span<const int32_t> over, std::span<const int32_t> reads);
  // `prior` after the writes of `writers` and of all that made `joined` out of the versions it
  // shares with `prior`. Who made `prior` or a version before is no new writer. Who makes or takes
  // this version comes after the kernels of `after`, which write something else.
  int32_t version(int32_t prior, std::span<const int32_t> writers,
                  std::span<const int32_t> joined = {}, std::span<const int32_t> after = {});

  int32_t kernels() const { return static_cast<int32_t>(kernels_.size()); }
  int32_t versions() const { return static_cast<int32_t>(versions_.size()); }
  int32_t buffer(int32_t version) const { return at(version).buffer; }
  // The first version that held what this one holds: itself where it has writers.
  int32_t content(int32_t version) const { return at(version).content; }
  // Kernels that make this version out of the one before.
  std::span<const int32_t> writers(int32_t version) const { return list(at(version).writers); }
  // Appends who must have run where the version is taken.
  void makers(int32_t version, std::vector<int32_t>& out) const;
  std::span<const int32_t> over(int32_t kernel) const { return list(at_kernel(kernel).over); }
  std::span<const int32_t> reads(int32_t kernel) const { return list(at_kernel(kernel).reads); }

  // Who waits for whom, by from, then to; a pair that is RAW is nothing else. Linear in kernels and
  // accesses, times the writers of the versions accessed.
  //
  //   RAW  who made a version (or what it is after), before who takes it or makes the next one of
  //   it WAR  who reads a version, before who makes the next one WAW  who made a version, before
  //   who makes the next one without having taken it
  std::vector<Dependency> dependencies() const;

 private:
  struct List {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  struct Kernel {
    List over;
    List reads;
  };
  struct Version {
    int32_t buffer = 0;
    int32_t prior = -1;
    int32_t content = 0;
    int32_t line = 0;   // a run of versions each the first made of the one before
    int32_t place = 0;  // in it
    List writers;
    List after;
  };
  struct Line {
    int32_t prior = -1;  // the version that its first one was made of
    int32_t length = 0;
  };

  const Version& at(int32_t version) const { return versions_[static_cast<size_t>(version)]; }
  const Kernel& at_kernel(int32_t kernel) const { return kernels_[static_cast<size_t>(kernel)]; }
  std::span<const int32_t> list(List l) const {
    return std::span(pool_).subspan(l.begin, l.end - l.begin);
  }
  List keep(std::span<const int32_t> items);
  int32_t add(Version v);
  bool is_or_precedes(int32_t a, int32_t b) const;
  bool made(int32_t kernel, int32_t version) const;
  void take(std::vector<Dependency>& out) const;
  void overwrite(std::vector<Dependency>& out) const;

  std::vector<Kernel> kernels_;
  std::vector<Version> versions_;
  std::vector<Line> lines_;
  // The versions that a kernel is a writer of, as a list: the last by kernel, then those before.
  struct Made {
    int32_t version;
    int32_t next;
  };
  std::vector<int32_t> last_made_;
  std::vector<Made> made_;
  std::vector<int32_t> pool_;
};

}  // namespace assay::schedule
