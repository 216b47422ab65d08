#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/render/literal.h"
#include "engine/render/names.h"
#include "engine/uop/node_map.h"
#include "engine/uop/target.h"
#include "engine/uop/uop.h"

namespace assay::render {

// The text of a value.
struct Text {
  uint32_t from = 0;  // in the pool
  uint32_t size = 0;
  Precedence holds = kPrimary;
  bool is_typed = true;  // its C type is that of the node; else an int of the same value
  uint8_t depth = 0;     // of nested operations
};

// Texts of values, each made of those of its sources.
class Expressions {
 public:
  Expressions(uop::Graph& g, const uop::Target& target) : g_(g), target_(target) {}

  // The text of u, whose sources have theirs: a constant or a scalar function, a STACK, or a lane
  // of a vector. Nothing where the language cannot say it; trouble() says why.
  std::optional<Text> make(uop::Ref u);
  const std::string& trouble() const { return trouble_; }

  void set(uop::Ref u, Text text) { texts_.set(u, text); }
  Text of(uop::Ref u) const { return texts_.at(u); }
  std::string_view view(Text text) const {
    return std::string_view(pool_).substr(text.from, text.size);
  }
  // A name, or any text that holds together by itself.
  Text name(std::string_view text);
  // Appends the text of u, in brackets unless it holds at least so tightly.
  void append(std::string& out, uop::Ref u, Precedence least) const;
  // The text of u as a value of its C type exactly, as overloaded functions ask for.
  void append_typed(std::string& out, uop::Ref u) const;
  // The C type of u: of a scalar, or of a vector of its lanes.
  std::string type(uop::Ref u) const;

  // The largest power of two that divides an integer, as far as it shows.
  int64_t factor(uop::Ref u);

 private:
  std::optional<Text> refuse(std::string message);
  Text put(uop::Ref u, std::string_view text, Precedence holds, bool is_typed = true);
  Text constant(uop::Ref u);
  std::optional<Text> arithmetic(uop::Ref u);
  std::optional<Text> integer(uop::Ref u);
  std::optional<Text> divided(uop::Ref u);
  Text infix(uop::Ref u, std::string_view symbol, Precedence holds);
  Text narrowed(uop::Ref u, std::string_view symbol, Precedence holds);
  Text wrapped(uop::Ref u, std::string_view symbol, Precedence holds);
  Text call(uop::Ref u, std::string_view function);
  Text extreme(uop::Ref u);
  Text float_extreme(uop::Ref u);
  Text select(uop::Ref u);
  Text negated(uop::Ref u);
  Text fused(uop::Ref u);
  std::optional<Text> cast(uop::Ref u);
  std::optional<Text> bitcast(uop::Ref u);
  Text stack(uop::Ref u);
  std::optional<Text> lane(uop::Ref u);

  bool stays_in_range(uop::Ref u) const;
  void append_unsigned(std::string& out, uop::Ref u) const;

  uop::Graph& g_;
  const uop::Target& target_;
  std::string pool_;
  std::string text_;  // the one that is being made
  std::string trouble_;
  uop::NodeMap<Text> texts_;
  uop::NodeMap<int64_t> factors_;
};

}  // namespace assay::render
