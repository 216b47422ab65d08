#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::render {

// What a LOAD or STORE names: `count` elements of storage from `begin` on.
struct Place {
  uop::Ref storage = nullptr;  // PARAM or BUFFER
  uop::Ref begin = nullptr;
  int64_t count = 1;
  bool is_run = false;  // a SHRINK: a vector, even of one element
};

// The place that u (INDEX or SHRINK, through AFTERs) is, or nothing where it is no such thing.
std::optional<Place> place_of(uop::Ref u);
// u without the AFTERs around it.
uop::Ref without_order(uop::Ref u);
// How many elements a value has: those of a STACK or of a vector that was loaded; 0 for a scalar.
int64_t lanes_of(uop::Ref u);

// How the kernel uses its storage.
struct Storage {
  bool is_stored = false;
  // Registers that are named by constants alone are variables, one an element.
  bool is_scalars = false;
  std::vector<uint32_t> stores;  // the lines that store to it
};

// By the number that it stands under in `numbers`.
class Storages {
 public:
  explicit Storages(std::span<const uop::Ref> lines);
  const Storage& of(uop::Ref storage) const { return all_[numbers_.at(storage)]; }

 private:
  void use(uop::Ref access, uint32_t line);

  uop::NodeMap<uint32_t> numbers_;
  std::vector<Storage> all_;
};

}  // namespace assay::render
