#include "props/kernel/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/walk.h"

namespace assay::props::kernel {

using uop::AddrSpace;
using uop::Op;
using uop::Ref;

namespace {

// A PARAM or BUFFER below what places and orders it.
Ref storage_below(Ref u) {
  while (u->op == Op::After || u->op == Op::Index || u->op == Op::Shrink) u = u->src[0];
  return u;
}

bool is_storage(Ref u) { return u->op == Op::Param || u->op == Op::Buffer; }

// "gidx0" to "gidx2" are bits 0 to 2, "lidx0" to "lidx2" bits 3 to 5; -1 of any other.
int position_bit(std::string_view name) {
  const bool is_group = name.starts_with("gidx");
  if (name.size() != 5 || (!is_group && !name.starts_with("lidx"))) return -1;
  if (name[4] < '0' || name[4] > '2') return -1;
  return name[4] - '0' + (is_group ? 0 : 3);
}

// What a load of one element yields where no one writes the argument and its file says what it is.
std::optional<Form> argument_of_file(KernelModel& m, const std::set<int>& others, Ref load) {
  const Ref place = load->src[0];
  if (load->src.size() != 1 || place->op != Op::Index || !uop::is_int(load->dtype))
    return std::nullopt;
  const Ref param = storage_below(place);
  for (size_t i = 0; i < m.storages.size(); i++) {
    const Storage& s = m.storages[i];
    if (s.node != param || param->op != Op::Param) continue;
    const bool is_other = others.count(static_cast<int>(s.number)) != 0;
    if (is_other || s.is_written || s.region != static_cast<int>(i)) return std::nullopt;
    const Form element = scaled(m.terms.form(place->src[1]), 7);
    return m.terms.remainder(sum(element, number_form(3 * s.number)), 11);
  }
  return std::nullopt;
}

}  // namespace

KernelModel::KernelModel()
    : terms([this](Ref storage) {
        return std::ranges::any_of(
            storages, [&](const Storage& s) { return s.node == storage && s.is_written; });
      }) {}

class Reader {
 public:
  Reader(uop::Graph& g, KernelModel& m, const ModelOptions& options)
      : g_(g), m_(m), options_(options) {}

  Result<bool> read(Ref linear) {
    if (linear->op != Op::Linear)
      return Error{fmt::format("{} is no list of instructions", uop::to_text(linear->op))};
    m_.nodes_ = uop::toposort(g_, linear);
    const std::vector<Ref>& nodes = m_.nodes_;
    m_.scopes.push_back({});
    m_.scopes[0].end = static_cast<int>(nodes.size());
    set_launch();
    find_storages(nodes);
    if (options_.has_file_arguments)
      m_.terms.set_loaded([&m = m_, others = options_.other_arguments](Ref load) {
        return argument_of_file(m, others, load);
      });
    for (const Ref u : nodes) {
      if (u != linear && !take(u)) return Error{fmt::format("{}: {}", m_.text(line_), error_)};
      line_++;
    }
    if (open_ != 0)
      return Error{fmt::format("{} has no end", m_.text(m_.scopes[index(open_)].begin))};
    m_.place_barriers();
    return true;
  }

 private:
  static size_t index(int i) { return static_cast<size_t>(i); }
  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  void set_launch() {
    if (!options_.launch) return;
    for (size_t axis = 0; axis < 3; axis++) {
      const int64_t groups = options_.launch->groups[axis];
      const int64_t items = options_.launch->items[axis];
      if (groups > 1) m_.terms.add_position(static_cast<int>(axis), groups);
      if (items > 1) m_.terms.add_position(static_cast<int>(axis) + 3, items);
    }
  }

  // Which are written has to be known before terms are read.
  void find_storages(const std::vector<Ref>& nodes) {
    for (const Ref u : nodes) {
      if (!is_storage(u)) continue;
      Storage s;
      s.node = u;
      s.space = u->op == Op::Buffer ? u->arg.addr_space() : AddrSpace::Global;
      s.number = u->arg.number();
      s.bytes = std::max(uop::bytes_of(u->dtype), 1);
      s.region = static_cast<int>(m_.storages.size());
      // Nodes of other types for the same argument are the same bytes.
      for (const Storage& o : m_.storages) {
        const bool is_same = o.node->op == u->op && o.space == s.space && o.number == s.number;
        if (is_same) s.region = std::min(s.region, o.region);
      }
      m_.storages.push_back(s);
    }
    for (const SharedArgument& shared : options_.shared) {
      Storage* const part = param(shared.slot);
      const Storage* const whole = param(shared.of);
      if (part == nullptr || whole == nullptr) continue;
      part->region = whole->region;
      part->offset = whole->offset + shared.offset;
    }
    for (const Ref u : nodes) {
      if (u->op != Op::Store) continue;
      const Ref written = storage_below(u->src[0]);
      for (Storage& s : m_.storages) s.is_written = s.is_written || s.node == written;
    }
    for (Storage& s : m_.storages) {
      for (const Storage& o : m_.storages)
        s.is_written = s.is_written || (o.region == s.region && o.is_written);
    }
  }
  Storage* param(int slot) {
    for (Storage& s : m_.storages) {
      if (s.node->op == Op::Param && s.number == slot) return &s;
    }
    return nullptr;
  }

  bool take(Ref u) {
    switch (u->op) {
      case Op::Param:
      case Op::Buffer: return size(u);
      case Op::Special: return special(u);
      case Op::Variable: return variable(u);
      case Op::Range: return range(u);
      case Op::End: return end(u);
      case Op::If: open(u, 0); return true;
      case Op::EndIf:
        if (m_.scopes[index(open_)].node != u->src[0]) return fail("does not end the innermost if");
        close();
        return true;
      case Op::Barrier: m_.barriers.push_back({u, line_, open_}); return true;
      case Op::Load: return access(u, u->src.size() > 2 ? u->src[2] : nullptr, false);
      case Op::Store: return access(u, u->src.size() > 2 ? u->src[2] : nullptr, true);
      case Op::Group:
      case Op::Sink:
      case Op::Reduce:
      case Op::Stage:
      case Op::Call:
      case Op::Invalid: return fail("does not belong into a LINEAR");
      default: return true;
    }
  }

  bool size(Ref u) {
    const auto is_it = [&](const Storage& s) { return s.node == u; };
    Storage& s = *std::ranges::find_if(m_.storages, is_it);
    s.size = number_form(1);
    for (const Ref n : u->src) {
      if (n->op == Op::Device) continue;
      const Form& count = m_.terms.form(n);
      if (!s.size.is_constant() && !count.is_constant()) return fail("has two symbolic sizes");
      s.size =
          count.is_constant() ? scaled(s.size, count.constant) : scaled(count, s.size.constant);
    }
    return true;
  }

  bool variable(Ref u) {
    const auto fixed = options_.variables.find(u->arg.name());
    if (fixed != options_.variables.end()) m_.terms.set_variable(u, fixed->second);
    if (uop::is_int(u->dtype)) m_.terms.form(u);
    return true;
  }

  bool special(Ref u) {
    const int bit = position_bit(u->arg.name());
    if (bit < 0) return fail("is no axis of a launch");
    m_.terms.set_special(u, bit);
    return true;
  }

  void open(Ref u, Dims dim) {
    Scope s;
    s.node = u;
    s.parent = open_;
    s.begin = line_;
    s.dim = dim;
    open_ = static_cast<int>(m_.scopes.size());
    m_.scopes.push_back(s);
  }
  void close() {
    Scope& s = m_.scopes[index(open_)];
    s.end = line_;
    open_ = s.parent;
  }
  bool range(Ref u) {
    const Dims dim = loop_dim(loops_++);
    m_.terms.set_loop(u, dim);
    open(u, dim);
    return true;
  }
  bool end(Ref u) {
    const auto named = u->src.subspan(1);
    for (size_t i = 0; i < named.size(); i++) {
      const Ref innermost = m_.scopes[index(open_)].node;
      if (innermost == nullptr || std::ranges::find(named, innermost) == named.end())
        return fail("does not end the innermost loop");
      close();
    }
    return true;
  }

  bool access(Ref u, Ref gate, bool is_write) {
    Ref place = u->src[0];
    while (place->op == Op::After) place = place->src[0];
    Access a;
    a.node = u;
    a.line = line_;
    a.scope = open_;
    a.is_write = is_write;
    a.width = 1;
    a.index = nullptr;
    a.gate = gate;
    if (place->op == Op::Index || place->op == Op::Shrink) a.index = place->src[1];
    if (place->op == Op::Shrink) a.width = static_cast<int>(place->src[2]->arg.bits);
    const Ref storage = storage_below(place);
    const auto is_it = [&](const Storage& s) { return s.node == storage; };
    const auto found = std::ranges::find_if(m_.storages, is_it);
    if (found == m_.storages.end()) return fail("touches what is no storage");
    a.storage = static_cast<int>(found - m_.storages.begin());
    m_.accesses.push_back(a);
    return true;
  }

  uop::Graph& g_;
  KernelModel& m_;
  const ModelOptions& options_;
  int line_ = 0;
  int open_ = 0;
  size_t loops_ = 0;
  std::string error_;
};

Result<std::unique_ptr<KernelModel>> KernelModel::read(uop::Graph& g, Ref linear,
                                                       const ModelOptions& options) {
  auto model = std::make_unique<KernelModel>();
  Reader reader(g, *model, options);
  const Result<bool> read = reader.read(linear);
  if (!read.ok()) return read.error();
  return model;
}

std::string KernelModel::text(int line) const {
  return fmt::format("%{} = {}", line, uop::to_text(nodes_[static_cast<size_t>(line)]->op));
}

int KernelModel::line_of(Ref node) const {
  return static_cast<int>(std::ranges::find(nodes_, node) - nodes_.begin());
}

std::vector<int> KernelModel::scopes_around(int scope) const {
  std::vector<int> around;
  for (int s = scope; s > 0; s = scopes[static_cast<size_t>(s)].parent) around.push_back(s);
  std::ranges::reverse(around);
  return around;
}

int KernelModel::barrier_loop(int scope) const {
  while (scope > 0) {
    const Scope& s = scopes[static_cast<size_t>(scope)];
    if (s.is_loop() && s.has_barrier) break;
    scope = s.parent;
  }
  return scope;
}

void KernelModel::place_barriers() {
  for (Scope& s : scopes) s.has_barrier = s.is_ordered = false;
  for (const BarrierSite& b : barriers) {
    scopes[static_cast<size_t>(b.scope)].is_ordered = true;
    for (int s = b.scope; s >= 0; s = scopes[static_cast<size_t>(s)].parent)
      scopes[static_cast<size_t>(s)].has_barrier = true;
  }
  // From the inside out: a loop that runs at least once passes what is in it on to those around it.
  for (size_t i = scopes.size(); i-- > 1;) {
    const Scope& s = scopes[i];
    if (!s.is_ordered || !s.is_loop()) continue;
    const Form& count = terms.form(s.node->src[0]);
    if (terms.range_of(count).lo >= 1) scopes[static_cast<size_t>(s.parent)].is_ordered = true;
  }
}

}  // namespace assay::props::kernel
