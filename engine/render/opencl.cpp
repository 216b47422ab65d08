#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/codegen/launch.h"
#include "engine/codegen/linear_order.h"
#include "engine/render/expression.h"
#include "engine/render/names.h"
#include "engine/render/places.h"
#include "engine/render/renderer.h"
#include "engine/render/usage.h"
#include "engine/uop/facts.h"

namespace assay::render {
namespace {

using uop::AddrSpace;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Target;

// A value becomes a variable at this depth of operations or length of text, whatever its use: real
// compilers end at 256 brackets, and a text is copied into that of its user.
constexpr int kDeepest = 32;
constexpr uint32_t kLongest = 240;
// Of LOCAL storage, in bytes.
constexpr int64_t kLocalAlignment = 16;

class OpenCl {
 public:
  OpenCl(Graph& g, Ref linear, const Target& target)
      : target_(target),
        lines_(linear->src),
        storages_(lines_),
        usage_(lines_, g.facts().positions, storages_),
        values_(g, target, lines_.size()) {}

  // The function is called `name`, the kernel `title`.
  Result<Source> render(std::string name, std::string_view title) {
    source_.name = std::move(name);
    collect();
    comment(title);
    open_kernel();
    for (const Ref u : lines_) {
      if (!statement(u)) return Error{std::move(trouble_)};
    }
    indent_ = 0;
    emit("}", nullptr);
    return std::move(source_);
  }

 private:
  // Arguments, launch and types, which the lines before the body name.
  void collect() {
    std::vector<Ref> variables;
    for (const Ref u : lines_) {
      types_[static_cast<size_t>(u->dtype)] = true;
      if (u->op == Op::Param) source_.arguments.push_back(u);
      if (u->op == Op::Variable) variables.push_back(u);
      if (u->op == Op::Special) launch(u);
    }
    std::sort(variables.begin(), variables.end(),
              [](Ref a, Ref b) { return a->arg.name() < b->arg.name(); });
    source_.arguments.insert(source_.arguments.end(), variables.begin(), variables.end());
  }

  void launch(Ref special) {
    const std::optional<codegen::LaunchAxis> at = codegen::launch_axis(special->arg.name());
    if (at) (at->of_groups ? source_.groups : source_.items)[at->axis] = special->src[0];
  }

  void emit(std::string_view line, Ref u) {
    source_.text.append(2 * indent_, ' ');
    source_.text += line;
    source_.text += '\n';
    source_.lines.push_back(u);
  }

  // How the kernel was made, where its name says so.
  void comment(std::string_view name) {
    if (name.find(' ') == std::string_view::npos) return;
    line_ = "// ";
    for (const char c : name) line_ += c >= ' ' && c <= '~' && c != '\\' ? c : '?';
    emit(line_, nullptr);
  }

  void open_kernel() {
    if (!target_.math.contracts) emit("#pragma OPENCL FP_CONTRACT OFF", nullptr);
    const bool computes_half = target_.arithmetic.has(DType::F16);
    if (uses(DType::F16) && computes_half) {
      emit("#pragma OPENCL EXTENSION cl_khr_fp16 : enable", nullptr);
    }
    if (uses(DType::F64)) emit("#pragma OPENCL EXTENSION cl_khr_fp64 : enable", nullptr);
    line_ = "__kernel ";
    if (const auto sizes = constant_items()) {
      line_ += fmt::format("__attribute__((reqd_work_group_size({}, {}, {}))) ", (*sizes)[0],
                           (*sizes)[1], (*sizes)[2]);
    }
    line_ += fmt::format("void {}(", source_.name);
    std::string_view before;
    for (const Ref u : source_.arguments) {
      line_ += before;
      line_ += u->op == Op::Param
                   ? parameter(u)
                   : fmt::format("const {} {}", c_type(stored_as(u->dtype)), variable_name(u));
      before = ", ";
    }
    line_ += ") {";
    emit(line_, nullptr);
    indent_ = 1;
  }

  bool uses(DType t) const { return types_[static_cast<size_t>(t)]; }

  std::optional<std::array<int64_t, 3>> constant_items() const {
    std::array<int64_t, 3> sizes = {1, 1, 1};
    for (size_t axis = 0; axis < 3; axis++) {
      const Ref size = source_.items[axis];
      if (size == nullptr) continue;
      if (!is_const(size)) return std::nullopt;
      sizes[axis] = static_cast<int64_t>(uop::as_int(size->value()));
    }
    return sizes;
  }

  static std::string variable_name(Ref u) { return user_name("v", u->arg.name()); }
  static std::string storage_name(Ref u) {
    if (u->op == Op::Param) return fmt::format("data{}", u->arg.number());
    const bool is_local = u->arg.addr_space() == AddrSpace::Local;
    return fmt::format("{}{}", is_local ? "local" : "acc", u->arg.number());
  }

  std::string parameter(Ref u) const {
    return fmt::format("__global {}{}* {}", storages_.of(u).is_stored ? "" : "const ",
                       c_type(stored_as(u->dtype)), storage_name(u));
  }

  // Writes the line of u, if it has one; false where there is none in the language.
  bool statement(Ref u) {
    switch (u->op) {
      case Op::Param: return parameter_type(u);
      case Op::Variable: return variable(u);
      case Op::Special: return special(u);
      case Op::Buffer: return declare(u);
      case Op::Range: return open_loop(u);
      case Op::End:
      case Op::EndIf:
        indent_--;
        emit("}", u);
        return true;
      case Op::If: return open_if(u);
      case Op::Barrier: emit("barrier(CLK_LOCAL_MEM_FENCE);", u); return true;
      case Op::Load: return load(u);
      case Op::Store: return store(u);
      case Op::Shrink: return place_of(u).has_value() || refuse("shrink of what is no storage");
      case Op::After: return after(u);
      case Op::Index: return place_of(u).has_value() || value(u);
      default: return value(u);
    }
  }

  bool refuse(std::string message) {
    trouble_ = std::move(message);
    return false;
  }

  bool variable(Ref u) {
    for (const Ref v : source_.arguments) {
      const bool is_another = v != u && v->op == Op::Variable && v->arg.name() == u->arg.name();
      if (is_another)
        return refuse(fmt::format("two variables are called {}", quoted(v->arg.name())));
    }
    // No parameter is a half where halves are only stored.
    if (is_packed_half(target_, u->dtype)) return refuse("a variable of f16");
    values_.set(u, values_.name(variable_name(u)));
    return parameter_type(u);
  }

  bool parameter_type(Ref u) {
    if (c_type(u->dtype) != "void") return true;
    return refuse(fmt::format("parameter of {}, which OpenCL C does not have", to_text(u->dtype)));
  }

  bool special(Ref u) {
    const std::string_view name = u->arg.name();
    const bool is_known = name.size() == 5 &&
                          (name.starts_with("gidx") || name.starts_with("lidx")) &&
                          name[4] >= '0' && name[4] <= '2';
    if (!is_known) return refuse(fmt::format("no such axis of a launch: {}", quoted(name)));
    emit(fmt::format("const {} {} = {}({});", c_type(u->dtype), name,
                     name[0] == 'g' ? "get_group_id" : "get_local_id", name[4]),
         u);
    values_.set(u, values_.name(name));
    return true;
  }

  bool declare(Ref u) {
    if (u->src.size() != 1 || !is_const(u->src[0])) return refuse("storage of no constant size");
    const auto size = static_cast<int64_t>(uop::as_int(u->src[0]->value()));
    const bool is_local = u->arg.addr_space() == AddrSpace::Local;
    if (!is_local && u->arg.addr_space() != AddrSpace::Reg) {
      return refuse("a buffer of global storage is no parameter");
    }
    const DType held = is_packed_half(target_, u->dtype) ? DType::U16 : stored_as(u->dtype);
    if (c_type(held) == "void") {
      return refuse(fmt::format("storage of {}, which OpenCL C does not have", to_text(u->dtype)));
    }
    const std::string name = storage_name(u);
    if (is_local) {
      emit(fmt::format("__local {} {}[{}] __attribute__((aligned({})));", c_type(held), name, size,
                       kLocalAlignment),
           u);
    } else if (!storages_.of(u).is_scalars) {
      emit(fmt::format("{} {}[{}];", c_type(held), name, size), u);
    } else {
      std::string names;
      for (int64_t i = 0; i < size; i++) {
        names += fmt::format("{}{}", i == 0 ? "" : ", ", scalar_name(u, i));
      }
      if (size > 0) emit(fmt::format("{} {};", c_type(u->dtype), names), u);
    }
    return true;
  }

  static std::string scalar_name(Ref storage, int64_t i) {
    const bool is_one = uop::as_int(storage->src[0]->value()) == 1;
    return is_one ? storage_name(storage) : fmt::format("{}_{}", storage_name(storage), i);
  }

  bool open_loop(Ref u) {
    const std::string name = fmt::format("ridx{}", loops_++);
    line_ = fmt::format("for ({} {} = 0; {} < ", c_type(u->dtype), name, name);
    values_.append(line_, u->src[0], kSum);
    line_ += fmt::format("; {}++) {{", name);
    emit(line_, u);
    indent_++;
    values_.set(u, values_.name(name));
    return true;
  }

  bool open_if(Ref u) {
    line_ = "if (";
    values_.append(line_, u->src[0], kTernary);
    line_ += ") {";
    emit(line_, u);
    indent_++;
    return true;
  }

  // Another name for its first source: of a value, its text.
  bool after(Ref u) {
    const Ref x = without_order(u);
    if (x->op != Op::Param && x->op != Op::Buffer && !place_of(x)) values_.set(u, values_.of(x));
    return true;
  }

  bool value(Ref u) {
    // A size of storage, which stands in no text.
    if (is_const(u) && u->dtype == uop::Index) return true;
    const std::optional<Text> text = values_.make(u);
    if (!text) return refuse(values_.trouble());
    // What is a name already needs no other one.
    const bool is_plain = is_const(u) || u->op == Op::Index || text->depth == 0;
    const bool is_named = usage_.is_named(u) || text->depth >= kDeepest || text->size > kLongest;
    if (is_plain || !is_named) {
      values_.set(u, *text);
      return true;
    }
    line_.assign(values_.view(*text));
    name_value(u, "alu");
    return true;
  }

  // Declares a variable that holds what stands in line_.
  void name_value(Ref u, std::string_view prefix) {
    const std::string name =
        fmt::format("{}{}", prefix, prefix == "val" ? loads_++ : values_count_++);
    emit(fmt::format("const {} {} = {};", values_.type(u), name, line_), u);
    values_.set(u, values_.name(name));
  }

  bool load(Ref u) {
    const std::optional<Place> place = checked_place(u);
    if (!place) return false;
    if (!usage_.is_named(u)) {
      values_.set(u, values_.name(scalar_name(place->storage, index_of(*place))));
      return true;
    }
    const bool is_gated = u->src.size() == 3;
    if (is_gated && lanes_of(u) > 1) return gated_vector(u, *place);
    line_.clear();
    if (is_gated) {
      values_.append(line_, u->src[2], kOr);
      line_ += " ? ";
    }
    append_read(u, *place);
    if (is_gated) {
      line_ += " : ";
      values_.append(line_, u->src[1], kTernary);
    }
    name_value(u, "val");
    return true;
  }

  // Of a condition and two vectors, C's ?: may compute both.
  bool gated_vector(Ref u, const Place& place) {
    const std::string name = fmt::format("val{}", loads_++);
    const std::string type = values_.type(u);
    line_ = fmt::format("{} {} = ", type, name);
    if (lanes_of(u->src[1]) > 1) {
      values_.append(line_, u->src[1], kTernary);
    } else {
      line_ += fmt::format("({})(", type);
      values_.append(line_, u->src[1], kTernary);
      line_ += ')';
    }
    line_ += ';';
    emit(line_, u);
    line_ = "if (";
    values_.append(line_, u->src[2], kTernary);
    line_ += fmt::format(") {} = ", name);
    append_read(u, place);
    line_ += ';';
    emit(line_, u);
    values_.set(u, values_.name(name));
    return true;
  }

  bool store(Ref u) {
    const std::optional<Place> place = checked_place(u);
    if (!place) return false;
    line_.clear();
    if (u->src.size() == 3) {
      line_ += "if (";
      values_.append(line_, u->src[2], kTernary);
      line_ += ") ";
    }
    append_write(*place, u->src[1]);
    line_ += ';';
    emit(line_, u);
    return true;
  }

  std::optional<Place> checked_place(Ref access) {
    std::optional<Place> place = place_of(access->src[0]);
    if (!place) {
      refuse(fmt::format("{} names no element of storage", to_text(access->op)));
      return std::nullopt;
    }
    if (!storages_.of(place->storage).is_scalars) return place;
    const int64_t i = index_of(*place);
    const auto size = static_cast<int64_t>(uop::as_int(place->storage->src[0]->value()));
    if (i >= 0 && i < size) return place;
    refuse(fmt::format("register {} of {} is named", i, size));
    return std::nullopt;
  }

  static int64_t index_of(const Place& place) {
    return static_cast<int64_t>(uop::as_int(place.begin->value()));
  }

  // Whether a vector may be read as one, which has to lie at a multiple of its size.
  bool is_aligned(const Place& p) {
    const int64_t bytes = p.count * uop::bytes_of(p.storage->dtype);
    const bool is_power = (p.count & (p.count - 1)) == 0;
    if (!is_power || values_.factor(p.begin) % p.count != 0) return false;
    if (p.storage->op == Op::Buffer) {
      return p.storage->arg.addr_space() == AddrSpace::Local && bytes <= kLocalAlignment;
    }
    const int64_t view = target_.views ? target_.view_alignment : target_.limits.alignment;
    return std::min(target_.limits.alignment, view) % bytes == 0;
  }

  std::string_view space_of(Ref storage) const {
    if (storage->op == Op::Param) return "__global";
    return storage->arg.addr_space() == AddrSpace::Local ? "__local" : "__private";
  }

  // `name + begin`, or the name alone.
  void append_address(const Place& p) {
    line_ += storage_name(p.storage);
    if (is_const(p.begin) && p.begin->value().bits == 0) return;
    line_ += " + ";
    values_.append(line_, p.begin, kProduct);
  }

  void append_aligned(const Place& p) {
    line_ += fmt::format("*({} {}{}{}*)(", space_of(p.storage),
                         storages_.of(p.storage).is_stored ? "" : "const ",
                         c_type(stored_as(p.storage->dtype)), p.count);
    append_address(p);
    line_ += ')';
  }

  void append_element(const Place& p) {
    if (storages_.of(p.storage).is_scalars) {
      line_ += scalar_name(p.storage, index_of(p));
      return;
    }
    line_ += storage_name(p.storage);
    line_ += '[';
    values_.append(line_, p.begin, kTernary);
    line_ += ']';
  }

  // The address of packed halves as vload_half and vstore_half take it. LOCAL and private ones are
  // declared as integers, since there may be no variables of type half.
  void append_half_address(const Place& p) {
    if (p.storage->op != Op::Param) {
      line_ += fmt::format("({} half*)", space_of(p.storage));
      if (!is_const(p.begin) || p.begin->value().bits != 0) line_ += '(';
      append_address(p);
      if (!is_const(p.begin) || p.begin->value().bits != 0) line_ += ')';
      return;
    }
    append_address(p);
  }

  void append_read(Ref load, const Place& p) {
    const bool is_vector = p.count > 1;
    if (is_packed_half(target_, load->dtype)) {
      line_ += is_vector ? fmt::format("vload_half{}(0, ", p.count) : "vload_half(0, ";
      append_half_address(p);
      line_ += ')';
    } else if (!is_vector) {
      append_element(p);
    } else if (is_aligned(p)) {
      append_aligned(p);
    } else {
      line_ += fmt::format("vload{}(0, ", p.count);
      append_address(p);
      line_ += ')';
    }
  }

  void append_write(const Place& p, Ref value) {
    const bool is_vector = p.count > 1;
    const bool is_half = is_packed_half(target_, p.storage->dtype);
    if (!is_half && (!is_vector || is_aligned(p))) {
      if (is_vector) {
        append_aligned(p);
      } else {
        append_element(p);
      }
      line_ += " = ";
      values_.append(line_, value, kTernary);
      return;
    }
    line_ += is_half ? "vstore_half" : "vstore";
    if (is_vector) line_ += fmt::format("{}", p.count);
    line_ += is_half ? "_rte(" : "(";
    values_.append(line_, value, kTernary);
    line_ += ", 0, ";
    if (is_half) {
      append_half_address(p);
    } else {
      append_address(p);
    }
    line_ += ')';
  }

  const Target& target_;
  std::span<const Ref> lines_;
  Storages storages_;
  Usage usage_;
  Expressions values_;
  Source source_;
  std::array<bool, uop::kDTypeCount> types_ = {};
  std::string line_;  // the one that is being made
  std::string trouble_;
  size_t indent_ = 0;
  int loops_ = 0;
  int loads_ = 0;
  int values_count_ = 0;
};

// "r_64_64 LOCAL(0,8)" is the kernel r_64_64 and how it was made.
std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

}  // namespace

Result<Source> render(Graph& g, Ref linear, const Target& target, std::string_view name) {
  if (const auto bad = codegen::linear_order().breach(g, linear)) return Error{*bad};
  uop::NodeMap<uint32_t>& positions = g.facts().positions;
  positions.clear();
  for (uint32_t i = 0; i < linear->src.size(); i++) positions.set(linear->src[i], i);
  const std::string_view title =
      linear->arg.kind == uop::ArgKind::Info ? linear->arg.name() : std::string_view();
  return OpenCl(g, linear, target)
      .render(name.empty() ? user_name("k", first_word(title)) : std::string(name), title);
}

}  // namespace assay::render
