#include "fuzz/commands/index_lines.h"

#include <fmt/format.h>

#include <vector>

#include <nlohmann/json.hpp>

#include "engine/uop/given.h"
#include "engine/uop/prefix.h"
#include "engine/uop/simplify.h"
#include "engine/uop/walk.h"

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

struct Line {
  uop::Ref index = nullptr;
  std::vector<uop::Ref> valid;
  bool gated = false;
};

Result<uop::Ref> in_field(std::string_view field, const Result<uop::Ref>& term) {
  if (term.ok()) return term.value();
  const Error& error = term.error();
  return Error{fmt::format("in {}, column {}: {}", field, error.column, error.message), 0, 0};
}

Result<uop::Leaves> leaves_of(uop::Graph& g, const Json& json) {
  const auto max = json.find("max");
  if (max == json.end() || !max->is_array()) return Error{"\"max\" is not a list of numbers", 0, 0};
  uop::Leaves leaves;
  for (const Json& value : *max) {
    if (!value.is_number_integer() || value.get<int64_t>() < 0) {
      return Error{fmt::format("\"max\" holds {}, which is no largest value", value.dump()), 0, 0};
    }
    const std::string name = fmt::format("r{}", leaves.size());
    const uop::Value lo = uop::of_int(uop::Index, 0);
    const uop::Value hi = uop::of_int(uop::Index, value.get<int64_t>());
    leaves.emplace(name, g.variable(name, lo, hi));
  }
  return leaves;
}

Result<uop::Ref> term_of(uop::Graph& g, const Json& text, std::string_view field, uop::DType type,
                         const uop::Leaves& leaves) {
  if (!text.is_string()) return Error{fmt::format("\"{}\" is not text", field), 0, 0};
  ASSAY_TRY(term, in_field(field, uop::from_prefix(g, text.get_ref<const std::string&>(), leaves)));
  if (term->dtype != type) {
    return Error{fmt::format("in {}: the term has type {}, not {}", field,
                             uop::to_text(term->dtype), uop::to_text(type)),
                 1, 1};
  }
  return term;
}

Result<Line> line_of(uop::Graph& g, const Json& json) {
  if (!json.is_object()) return Error{"the line is no JSON object", 0, 0};
  ASSAY_TRY(leaves, leaves_of(g, json));
  if (!json.contains("index")) return Error{"\"index\" is missing", 0, 0};
  Line line;
  ASSAY_TRY(index, term_of(g, json["index"], "index", uop::Index, leaves));
  line.index = index;
  line.gated = json.contains("valid");
  if (!line.gated) return line;
  if (!json["valid"].is_array()) return Error{"\"valid\" is not a list of conditions", 0, 0};
  for (const Json& text : json["valid"]) {
    ASSAY_TRY(condition, term_of(g, text, "valid", uop::Bool, leaves));
    line.valid.push_back(condition);
  }
  return line;
}

Result<std::string> to_json(uop::Graph& g, const Line& line) {
  Json json;
  ASSAY_TRY(index, uop::to_prefix(g, line.index));
  json["index"] = index;
  json["ops"] = uop::count_ops(g, line.index);
  if (line.gated) {
    json["valid"] = Json::array();
    for (const uop::Ref condition : line.valid) {
      ASSAY_TRY(text, uop::to_prefix(g, condition));
      json["valid"].push_back(text);
    }
    json["valid_ops"] = uop::count_ops(g, uop::conjunction(g, line.valid));
  }
  return json.dump();
}

// The parts of where(gate, index, invalid); a gate that is true leaves no conditions.
void take_apart(uop::Graph& g, uop::Ref root, Line& line) {
  if (root->op == uop::Op::Invalid) {
    line.valid = {g.constant(uop::of_bool(false))};
    line.index = g.constant(uop::Index, 0);
  } else if (root->op == uop::Op::Where && root->src[2]->op == uop::Op::Invalid) {
    line.valid = uop::conjuncts(root->src[0]);
    line.index = root->src[1];
  } else {
    line.valid.clear();
    line.index = root;
  }
}

}  // namespace

Result<std::string> simplify_index_line(std::string_view text, const uop::Switches& switches) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    return Error{"the line is no JSON", 1, static_cast<int>(e.byte)};
  }
  uop::Graph g;
  ASSAY_TRY(line, line_of(g, json));
  uop::Ref root = line.index;
  if (line.gated) {
    const uop::Ref gate = uop::conjunction(g, line.valid);
    const uop::Ref nothing = g.make(uop::Op::Invalid, uop::Index, {});
    root = g.make(uop::Op::Where, uop::Index, {gate, line.index, nothing});
  }
  uop::Run run(g, switches);
  ASSAY_TRY(simple, uop::simplify(run, root));
  take_apart(g, simple, line);
  return to_json(g, line);
}

}  // namespace assay::fuzz
