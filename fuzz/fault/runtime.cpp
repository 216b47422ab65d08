#include <algorithm>
#include <utility>

#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using runtime::Batch;
using runtime::Command;
using runtime::View;

bool is_launch(const Command& c) { return c.kind == Command::Kind::Launch; }
bool is_host_write(const Command& c) { return c.kind == Command::Kind::Write; }
bool is_host_read(const Command& c) { return c.kind == Command::Kind::Read; }

void forget_waits(Batch& batch, bool (*is)(const Command& c)) {
  for (Command& c : batch.commands) {
    if (is(c)) c.waits.clear();
  }
}

Command* last_launch(Batch& batch, size_t views) {
  const auto at =
      std::find_if(batch.commands.rbegin(), batch.commands.rend(),
                   [&](const Command& c) { return is_launch(c) && c.views.size() >= views; });
  return at == batch.commands.rend() ? nullptr : &*at;
}

// The last launch that takes two views of one size takes them the other way round.
void exchange_views(Batch& batch) {
  for (size_t k = batch.commands.size(); k-- > 0;) {
    Command& c = batch.commands[k];
    for (size_t a = 1; is_launch(c) && a + 1 < c.views.size(); a++) {
      if (c.views[a].bytes != c.views[a + 1].bytes) continue;
      std::swap(c.views[a], c.views[a + 1]);
      return;
    }
  }
}

// Two launches that take views of the same sizes run each other's kernel.
void exchange_kernels(Batch& batch) {
  const auto is_alike = [](const Command& a, const Command& b) {
    return is_launch(a) && is_launch(b) && !(a.kernel == b.kernel) &&
           std::ranges::equal(a.views, b.views,
                              [](const View& x, const View& y) { return x.bytes == y.bytes; });
  };
  for (Command& a : batch.commands) {
    for (Command& b : batch.commands) {
      if (!is_alike(a, b)) continue;
      std::swap(a.kernel, b.kernel);
      return;
    }
  }
}

// Of what is written from the host or read to it, the second half stays away.
void cut_copies(Batch& batch) {
  for (Command& c : batch.commands) {
    if (is_host_write(c)) c.from = c.from.first(c.from.size() / 2);
    if (is_host_read(c)) c.into = c.into.first(c.into.size() / 2);
    if (is_host_write(c)) c.views[0].bytes = static_cast<int64_t>(c.from.size());
    if (is_host_read(c)) c.views[0].bytes = static_cast<int64_t>(c.into.size());
  }
}

}  // namespace

std::vector<Fault> runtime_faults() {
  constexpr FaultClass kOf = FaultClass::Runtime;
  std::vector<Fault> faults;
  const auto add = [&](std::string name, std::string does, Commands how, std::string_view row) {
    faults.push_back({std::move(name), kOf, std::move(does), "run", how, row});
  };
  add("run.last_wait_dropped", "The last command that waits leaves one wait out.",
      Commands{[](Batch& b) {
        const auto at = std::find_if(b.commands.rbegin(), b.commands.rend(),
                                     [](const Command& c) { return !c.waits.empty(); });
        if (at != b.commands.rend()) at->waits.pop_back();
      }},
      "B182");
  add("run.first_wait_dropped", "The first command that waits does not.", Commands{[](Batch& b) {
        const auto at =
            std::ranges::find_if(b.commands, [](const Command& c) { return !c.waits.empty(); });
        if (at != b.commands.end()) at->waits.clear();
      }},
      "B182");
  add("run.no_waits", "Commands wait for nothing.",
      Commands{[](Batch& b) { forget_waits(b, [](const Command&) { return true; }); }}, "B037");
  add("run.wait_for_one_before", "Who waits, waits for the command before the right one.",
      Commands{[](Batch& b) {
        for (Command& c : b.commands) {
          for (int32_t& w : c.waits) w -= w > 0 ? 1 : 0;
        }
      }},
      "");
  add("run.one_wait_each", "A command waits for one of those it has to wait for.",
      Commands{[](Batch& b) {
        for (Command& c : b.commands) c.waits.resize(std::min<size_t>(c.waits.size(), 1));
      }},
      "B029");
  add("run.write_does_not_wait", "A copy from the host does not wait for who reads the storage.",
      Commands{[](Batch& b) { forget_waits(b, is_host_write); }}, "B037");
  faults.back().note =
      "equivalent: a copy waits as a whole before it is read from its device, and what writes it "
      "comes in a later batch, where it waits for nothing (runtime/steps)";
  add("run.read_does_not_wait", "A copy to the host does not wait for who writes the storage.",
      Commands{[](Batch& b) { forget_waits(b, is_host_read); }}, "B037");
  add("run.queues_do_not_wait", "A command waits for those of its own queue only.",
      Commands{[](Batch& b) {
        for (Command& c : b.commands) {
          std::erase_if(c.waits, [&](int32_t w) {
            return b.commands[static_cast<size_t>(w)].lane != c.lane;
          });
        }
      }},
      "B039");
  add("run.views_exchanged", "A launch is given two of its arguments for one another.",
      Commands{exchange_views}, "B159");
  add("run.offset_lost", "A view begins where its storage does.", Commands{[](Batch& b) {
        for (Command& c : b.commands) {
          for (View& v : c.views) v.offset = 0;
        }
      }},
      "B065");
  add("run.launch_lost", "The last launch is not done.", Commands{[](Batch& b) {
        Command* c = last_launch(b, 1);
        if (c == nullptr) return;
        c->kind = Command::Kind::Fill;
        c->views.resize(1);
        c->views[0].bytes = 0;
      }},
      "B010");
  add("run.output_is_input", "A launch writes where it reads.", Commands{[](Batch& b) {
        Command* c = last_launch(b, 2);
        if (c != nullptr && c->views[0].bytes <= c->views[1].bytes) {
          const int64_t bytes = c->views[0].bytes;
          c->views[0] = c->views[1];
          c->views[0].bytes = bytes;
        }
      }},
      "B018");
  add("run.variable_one_less", "A variable has the value of the run before.",
      Commands{[](Batch& b) {
        for (auto& [name, value] : b.variables) value -= value > 1 ? 1 : 0;
      }},
      "B027");
  add("run.kernels_exchanged", "Two launches run each other's kernel.", Commands{exchange_kernels},
      "B042");
  add("run.copies_cut", "Half of what is copied between devices stays away.", Commands{cut_copies},
      "B037");
  return faults;
}

}  // namespace assay::fuzz
