#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/codegen/launch.h"
#include "engine/result.h"
#include "engine/uop/target.h"
#include "engine/uop/uop.h"
#include "oracles/interpreter/interpreter.h"
#include "props/kernel/terms.h"

// What a LINEAR does to storage, and where: read off its nodes alone.
namespace assay::props::kernel {

// All of the list, a loop, or a branch: what stands between its first and last line.
struct Scope {
  uop::Ref node = nullptr;  // a RANGE or an IF; null of the whole list
  int parent = -1;
  int begin = 0;
  int end = 0;
  Dims dim = 0;              // of a loop
  bool has_barrier = false;  // at any depth
  // Each time that a work-item goes through, it passes a barrier.
  bool is_ordered = false;

  bool is_loop() const { return node != nullptr && node->op == uop::Op::Range; }
  bool is_branch() const { return node != nullptr && node->op == uop::Op::If; }
};

struct Storage {
  uop::Ref node;  // a PARAM or BUFFER
  uop::AddrSpace space;
  int64_t number;
  Form size;  // in elements
  int bytes;  // of an element
  // Storages of one region may share bytes.
  int region;
  int64_t offset = 0;  // of its first byte in the region
  bool is_written = false;
};

struct Access {
  uop::Ref node;  // a LOAD or STORE
  int line;
  int scope;
  int storage;
  bool is_write;
  int width;       // elements
  uop::Ref index;  // null: element 0
  uop::Ref gate;   // its own; null where it has none
};

struct BarrierSite {
  uop::Ref node;
  int line;
  int scope;
};

// An argument that is another one from some byte on.
struct SharedArgument {
  int slot;
  int of;
  int64_t offset;
};

struct ModelOptions {
  // A launch that may have more positions than SPECIALs ask for; what they ask for where it is
  // empty.
  std::optional<codegen::Launch> launch;
  std::vector<SharedArgument> shared;
  // The values of variables that have but one.
  interpreter::Variables variables;
  // Arguments hold what kernel_file.h says: element i of argument s is (7 i + 3 s) mod 11.
  bool has_file_arguments = false;
  std::set<int> other_arguments;  // but for these
};

// Lines are places in the toposort of the LINEAR, by which the work-group machine and the text of
// the list call its nodes.
class KernelModel {
 public:
  KernelModel();
  // An error says what does not belong into a LINEAR.
  static Result<std::unique_ptr<KernelModel>> read(uop::Graph& g, uop::Ref linear,
                                                   const ModelOptions& options = {});

  std::vector<Scope> scopes;  // 0 is the whole list; outer ones stand before inner ones
  std::vector<Storage> storages;
  std::vector<Access> accesses;  // by line
  std::vector<BarrierSite> barriers;
  Terms terms;

  // The innermost loop around a scope that has a barrier, itself included; 0 where there is none.
  int barrier_loop(int scope) const;
  // The scopes around, from the outermost, without the whole list; itself included.
  std::vector<int> scopes_around(int scope) const;
  std::string text(int line) const;  // "%12 = load"
  int line_of(uop::Ref node) const;

  // Sets what scopes say of barriers from the list of them.
  void place_barriers();

 private:
  friend class Reader;
  std::vector<uop::Ref> nodes_;  // by line
};

}  // namespace assay::props::kernel
