#include <algorithm>

#include "oracles/workgroup/decode.h"

namespace assay::workgroup {
namespace {

// f(register, is_out) for each register that an instruction names.
template <typename F>
void each_register(Program& p, Instruction& i, F f) {
  for (Register& r : i.src) f(r, false);
  if (i.access >= 0) {
    Access& a = p.accesses[static_cast<size_t>(i.access)];
    f(a.index, false);
    f(a.gate, false);
    for (Register& r : a.other) f(r, false);
    for (Register& r : a.values) f(r, i.code == Code::Load);
    return;
  }
  if (i.code == Code::Compute) f(i.out, true);
}

// From the instruction that sets a register to the last that asks for it.
struct Life {
  int begin = -1;
  int end = -1;
};

// A register that is set before a loop and used in it lives until the loop ends.
std::vector<Life> lives_of(Program& p) {
  std::vector<Life> lives(p.lanes);
  std::vector<int> open;
  for (int at = 0; at < static_cast<int>(p.code.size()); at++) {
    Instruction& i = p.code[static_cast<size_t>(at)];
    if (i.code == Code::Loop) open.push_back(at);
    if (i.code == Code::EndLoop) open.pop_back();
    each_register(p, i, [&](Register& r, bool is_out) {
      if (r.file != File::Lane) return;
      Life& life = lives[r.number];
      if (is_out) life.begin = at;
      int end = at;
      for (const int loop : open) {
        if (loop < life.begin) continue;
        end = p.code[static_cast<size_t>(loop)].partner;
        break;
      }
      life.end = std::max(life.end, end);
    });
  }
  return lives;
}

}  // namespace

void allocate(Program& p) {
  const std::vector<Life> lives = lives_of(p);
  std::vector<std::vector<uint32_t>> dying(p.code.size());
  for (uint32_t r = 0; r < p.lanes; r++) {
    if (lives[r].end >= 0) dying[static_cast<size_t>(lives[r].end)].push_back(r);
  }
  std::vector<uint32_t> places(p.lanes, UINT32_MAX);
  std::vector<uint32_t> free;
  uint32_t used = 0;
  const auto place_of = [&](Register& r) {
    if (r.file != File::Lane) return;
    uint32_t& place = places[r.number];
    if (place == UINT32_MAX && free.empty()) {
      place = used++;
    } else if (place == UINT32_MAX) {
      place = free.back();
      free.pop_back();
    }
    r.number = place;
  };
  for (Position& position : p.positions) place_of(position.out);
  for (size_t at = 0; at < p.code.size(); at++) {
    each_register(p, p.code[at], [&](Register& r, bool) { place_of(r); });
    for (const uint32_t r : dying[at]) free.push_back(places[r]);
  }
  p.lanes = used;
}

}  // namespace assay::workgroup
