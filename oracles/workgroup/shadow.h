#pragma once

#include <cstdint>
#include <vector>

#include "oracles/workgroup/finding.h"

namespace assay::workgroup {

// Who touched each cell of a storage since the last barrier that orders it. Two work-items that
// touch a cell, one of them writing, and that no barrier stands between, race: within one epoch
// (the barriers that a group has passed; GLOBAL storage has one epoch only) nothing orders them. A
// cell holds the last write and two readers that differ, and so finds every cell that two
// work-items race for in this execution, and for each access that races one that it races with.
class Shadow {
 public:
  void resize(int64_t cells) { cells_.assign(static_cast<size_t>(cells), {}); }
  int64_t size() const { return static_cast<int64_t>(cells_.size()); }

  // An access that this one races with, or one without an instruction.
  Touch read(size_t cell, uint32_t epoch, const Touch& touch) {
    Cell& c = at(cell, epoch);
    Touch racing;
    if (c.write.is_some() && c.write.item != touch.item) racing = c.write;
    if (!c.reads[0].is_some() || c.reads[0].item == touch.item) {
      c.reads[0] = touch;
    } else {
      c.reads[1] = touch;
    }
    return racing;
  }
  Touch write(size_t cell, uint32_t epoch, const Touch& touch) {
    Cell& c = at(cell, epoch);
    Touch racing;
    for (const Touch* earlier : {&c.reads[1], &c.reads[0], &c.write}) {
      if (earlier->is_some() && earlier->item != touch.item) racing = *earlier;
    }
    c.write = touch;
    return racing;
  }

 private:
  struct Cell {
    Touch write;
    Touch reads[2];  // by different work-items
    uint32_t epoch = 0;
  };
  Cell& at(size_t cell, uint32_t epoch) {
    Cell& c = cells_[cell];
    if (c.epoch != epoch) c = {{}, {}, epoch};
    return c;
  }

  std::vector<Cell> cells_;
};

}  // namespace assay::workgroup
