#include <algorithm>
#include <regex>
#include <string>

#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

constexpr const char* kBarrier = "barrier(CLK_LOCAL_MEM_FENCE);";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void replace_last(std::string& text, std::string_view from, std::string_view to) {
  const size_t at = text.rfind(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

// The first match, in what comes after the line of the function's head.
void replace_first(std::string& text, const char* pattern, const char* to) {
  const size_t kernel = text.find("__kernel");
  const size_t head = kernel == std::string::npos ? kernel : text.find('\n', kernel);
  if (head == std::string::npos) return;
  const std::string body = text.substr(head);
  text.replace(
      head, std::string::npos,
      std::regex_replace(body, std::regex(pattern), to, std::regex_constants::format_first_only));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The last line that holds `what` moves up by one.
void move_up(std::string& text, std::string_view what) {
  std::vector<std::string> lines = lines_of(text);
  for (size_t k = lines.size(); k-- > 1;) {
    if (lines[k].find(what) == std::string::npos) continue;
    std::swap(lines[k], lines[k - 1]);
    text = text_of(lines);
    return;
  }
}

// The end of the first loop moves: to the end of the function, or to before its last statement.
void move_loop_end(std::string& text, bool to_end) {
  std::vector<std::string> lines = lines_of(text);
  const auto open = std::ranges::find_if(
      lines, [](const std::string& line) { return line.find("for (") != std::string::npos; });
  if (open == lines.end()) return;
  const std::string close = std::string(open->find_first_not_of(' '), ' ') + "}";
  const auto end = std::find(open, lines.end(), close);
  if (end == lines.end() || end - open < 2) return;
  if (to_end) {
    std::rotate(end, end + 1, lines.end() - 1);
  } else {
    std::iter_swap(end, end - 1);
  }
  text = text_of(lines);
}

// A line of a LINEAR that ends a loop is missing where it stood: it comes at the end.
Ref end_late(Graph& g, Ref linear) {
  std::vector<Ref> lines(linear->src.begin(), linear->src.end());
  const auto at = std::ranges::find_if(lines, [](Ref u) { return u->op == Op::End; });
  if (at == lines.end()) return linear;
  auto to = at + 1;
  while (to != lines.end() && (*to)->op != Op::End && (*to)->op != Op::Range) ++to;
  std::rotate(at, at + 1, to);
  return with_lines(g, linear, lines);
}

// Two arrays of one type that work-items share are one.
void share_slot(std::string& text) {
  const std::regex declaration("__local (\\w+) (local\\d+)\\[(\\d+)\\][^;]*;");
  std::smatch first;
  std::smatch second;
  if (!std::regex_search(text, first, declaration)) return;
  const std::string rest = first.suffix();
  if (!std::regex_search(rest, second, declaration) || first[1] != second[1]) return;
  const std::string alias =
      "__local " + second.str(1) + "* " + second.str(2) + " = " + first.str(2) + ";";
  if (std::stoll(first[3]) < std::stoll(second[3])) return;
  replace_last(text, second.str(), alias);
}

// Two inputs of one type, exchanged by name.
void exchange_arguments(std::string& text) {
  const std::regex head("(__global const \\w+\\*) data1, (__global const \\w+\\*) data2");
  std::smatch found_at;
  if (!std::regex_search(text, found_at, head) || found_at[1] != found_at[2]) return;
  replace_last(text, found_at.str(), found_at.str(1) + " data2, " + found_at.str(2) + " data1");
}

void add_barriers(std::vector<Fault>& faults) {
  constexpr FaultClass kOf = FaultClass::Renderer;
  const auto add = [&](std::string name, std::string does, Text how, std::string_view row) {
    faults.push_back({std::move(name), kOf, std::move(does), "render", how, row});
  };
  add("render.barrier_as_nothing",
      "BARRIER is rendered as nothing; in the LINEAR: local.barriers_dropped.",
      Text{[](std::string& t) { replace_all(t, kBarrier, ";"); }}, "B139");
  add("render.barrier_as_fence", "BARRIER is rendered as a fence only.",
      Text{[](std::string& t) { replace_all(t, kBarrier, "mem_fence(CLK_LOCAL_MEM_FENCE);"); }},
      "B139");
  add("render.barrier_of_other_fence", "BARRIER has the flag of GLOBAL storage.",
      Text{[](std::string& t) { replace_all(t, kBarrier, "barrier(CLK_GLOBAL_MEM_FENCE);"); }}, "");
  add("render.barrier_in_branch",
      "BARRIER stands inside a branch of one work-item; in the LINEAR: local.barrier_in_branch.",
      Text{[](std::string& t) {
        replace_last(t, kBarrier, "if (get_local_id(0) == 0) { barrier(CLK_LOCAL_MEM_FENCE); }");
      }},
      "B141");
  add("render.barrier_one_early",
      "BARRIER stands one statement early; in the LINEAR: local.barrier_one_early.",
      Text{[](std::string& t) { move_up(t, kBarrier); }}, "B139");
  add("render.local_slot_shared",
      "Two arrays that work-items share are one; in the LINEAR: local.one_slot_for_two.",
      Text{share_slot}, "B181");
}

void add_gates(std::vector<Fault>& faults) {
  constexpr FaultClass kOf = FaultClass::Renderer;
  const auto add = [&](std::string name, std::string does, Text how, std::string_view row) {
    faults.push_back({std::move(name), kOf, std::move(does), "render", how, row});
  };
  add("render.store_gate_dropped",
      "The gate of a store is not rendered; in the LINEAR: vector.branch_lost.",
      Text{[](std::string& t) { replace_first(t, "\n( *)if \\([^\\n]*\\) \\{", "\n$1{"); }},
      "B150");
  add("render.load_gate_dropped",
      "The gate of a load is not rendered; in the LINEAR: vector.load_gate_dropped.",
      Text{[](std::string& t) {
        replace_first(t, "= [^;\\n]* \\? (data\\d+\\[[^;\\n]*\\]) : [^;\\n]*;", "= $1;");
      }},
      "B142");
  add("render.vector_gate_dropped", "The gate of a load of lanes is not rendered.",
      Text{[](std::string& t) {
        replace_first(t, "\n( *)if \\([^\\n]*\\) (val\\d+ = v)", "\n$1$2");
      }},
      "B154");
  add("render.select_exchanged", "What a select picks is rendered the other way round.",
      Text{[](std::string& t) {
        replace_first(t, "(\\w+) \\? ([\\w.]+) : ([\\w.]+)", "$1 ? $3 : $2");
      }},
      "");
}

void add_text(std::vector<Fault>& faults) {
  constexpr FaultClass kOf = FaultClass::Renderer;
  const auto add = [&](std::string name, std::string does, Text how, std::string_view row,
                       std::string_view note = "") {
    faults.push_back({std::move(name), kOf, std::move(does), "render", how, row, note});
  };
  add("render.loop_end_late", "A loop ends where the kernel does.",
      Text{[](std::string& t) { move_loop_end(t, true); }}, "");
  add("render.loop_end_early", "A loop ends one statement early.",
      Text{[](std::string& t) { move_loop_end(t, false); }}, "");
  add("render.loop_inclusive", "A loop runs once more.",
      Text{[](std::string& t) { replace_first(t, "(ridx\\d+) < (\\d+);", "$1 <= $2;"); }}, "");
  add("render.item_as_group", "A work-item is rendered as its group.",
      Text{[](std::string& t) { replace_first(t, "get_local_id\\(0\\)", "get_group_id(0)"); }}, "");
  add("render.axis_exchanged", "A group along one axis is rendered as along another.",
      Text{[](std::string& t) { replace_first(t, "get_group_id\\(1\\)", "get_group_id(0)"); }},
      "B085");
  add("render.lane_of_first", "The second lane is rendered as the first.",
      Text{[](std::string& t) { replace_all(t, ".s1", ".s0"); }}, "B151");
  add("render.vector_one_on", "A vector is loaded from the next vector on.",
      Text{[](std::string& t) { replace_first(t, "(vload\\w*)\\(0,", "$1(1,"); }}, "B147");
  add("render.vector_as_comma", "A vector is rendered as its last lane.", Text{[](std::string& t) {
        replace_first(t, "\\((float[248])\\)\\(([^()]*), ([^(),]*)\\)", "($1)($3)");
      }},
      "B175");
  add("render.unsigned_as_signed", "An unsigned value is rendered with a sign.",
      Text{[](std::string& t) { replace_first(t, "const uint (\\w+) =", "const int $1 ="); }},
      "B115",
      "it shows where one scalar is past the sign and is shifted right, or made wider or a float: "
      "elsewhere C takes an int beside a uint for a uint, and lanes are no const uint");
  add("render.char_without_sign", "The signed type of eight bits is rendered without a sign.",
      Text{[](std::string& t) {
        replace_all(t, "const char ", "const uchar ");
        replace_all(t, "(char)", "(uchar)");
      }},
      "B197");
  add("render.wrap_left_out", "What is narrower than an int is not wrapped.",
      Text{[](std::string& t) {
        replace_first(t, "const (u?char|u?short) (\\w+) = \\(u?(char|short)\\)", "const int $2 = ");
      }},
      "B110");
  add("render.half_cut", "A half is stored without rounding.",
      Text{[](std::string& t) { replace_all(t, "_rte(", "_rtz("); }}, "B098");
  add("render.arguments_exchanged", "Two arguments are rendered one in the place of the other.",
      Text{exchange_arguments}, "B159");
  add("render.precedence_lost", "Parentheses around a sum are left out.",
      Text{[](std::string& t) { replace_first(t, "\\((\\w+ [+-] \\w+)\\) \\*", "$1 *"); }}, "");
  add("render.minus_as_plus", "A difference is rendered as a sum.",
      Text{[](std::string& t) { replace_first(t, " - ", " + "); }}, "");
  add("render.less_inclusive", "A comparison is rendered with its bound.",
      Text{[](std::string& t) { replace_first(t, "(alu\\d+|val\\d+) < ", "$1 <= "); }}, "");
}

}  // namespace

std::vector<Fault> renderer_faults() {
  constexpr FaultClass kOf = FaultClass::Renderer;
  std::vector<Fault> faults = {
      {"render.after_dropped", kOf,
       "An AFTER is dropped, and lines come in an order that it forbade: before the list is made.",
       "add_control_flow",
       Nodes{Which::Last, [](Graph&, Ref u) { return u->op == Op::After ? u->src[0] : u; }}},
      {"render.end_dropped", kOf, "An END is dropped, and its loop goes on: in the LINEAR.",
       "linearize", Whole{end_late}},
  };
  add_barriers(faults);
  add_gates(faults);
  add_text(faults);
  return faults;
}

}  // namespace assay::fuzz
