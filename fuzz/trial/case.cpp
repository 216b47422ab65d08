#include "fuzz/trial/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/tensor/program/text.h"

namespace assay::fuzz {
namespace {

// A thing that a comment says of a case.
struct Said {
  std::string_view word;
  std::string (*get)(const Case& c);  // "" where there is nothing to say
  bool (*set)(Case& c, std::string_view value);
};

constexpr Said kSaid[] = {
    {"device", [](const Case& c) { return c.device == Case{}.device ? "" : c.device; },
     [](Case& c, std::string_view v) {
       c.device = v;
       return true;
     }},
    {"profile", [](const Case& c) { return c.profile; },
     [](Case& c, std::string_view v) {
       c.profile = v;
       return true;
     }},
    {"opts", [](const Case& c) { return c.opts; },
     [](Case& c, std::string_view v) {
       c.opts = v;
       return true;
     }},
    {"seed", [](const Case& c) { return c.seed == 1 ? "" : std::to_string(c.seed); },
     [](Case& c, std::string_view v) {
       const auto [end, error] = std::from_chars(v.data(), v.data() + v.size(), c.seed);
       return error == std::errc() && end == v.data() + v.size();
     }},
};

const Said* said_by(std::string_view line, std::string_view& value) {
  for (const Said& s : kSaid) {
    const std::string begin = fmt::format("# {} ", s.word);
    if (!line.starts_with(begin)) continue;
    value = line.substr(begin.size());
    return &s;
  }
  return nullptr;
}

// Takes from comments what they say of a case; what they say besides is left.
Result<std::string> read_comments(std::string_view rest, Case& c) {
  std::string others;
  int number = 0;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    number++;
    std::string_view value;
    const Said* said = said_by(line, value);
    if (said == nullptr) {
      others += fmt::format("{}\n", line);
    } else if (!said->set(c, value)) {
      return Error{fmt::format("{} is no {}", quoted(value), said->word), number};
    }
  }
  return others;
}

// Where the graph begins, after comments and blank lines; nothing where it is no text of a graph.
std::optional<size_t> graph_in(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && (text[at] == '#' || text[at] == '\n')) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return text.substr(at).starts_with("uop ") ? std::optional(at) : std::nullopt;
}

}  // namespace

std::string to_text(const Case& c) {
  std::string text;
  for (const Said& s : kSaid) {
    const std::string value = s.get(c);
    if (!value.empty()) text += fmt::format("# {} {}\n", s.word, value);
  }
  return text + (c.is_program() ? tensor::to_text(c.program) : c.graph);
}

Result<Case> case_from_text(std::string_view text) {
  Case c;
  if (const std::optional<size_t> at = graph_in(text)) {
    c.graph = std::string(text.substr(*at));
    ASSAY_TRY(others, read_comments(text.substr(0, *at), c));
    c.graph.insert(0, others);
    return c;
  }
  ASSAY_TRY(program, tensor::from_text(text));
  ASSAY_TRY(others, read_comments(program.header, c));
  c.program = std::move(program);
  c.program.header = std::move(others);
  return c;
}

}  // namespace assay::fuzz
