#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// The .uop text of a graph, one node a line, each before its users and the root last:
//
//   uop 1 kernel                       # version of the format, stage
//   %0 = const index 8
//   %1 = range index %0 {0 loop}
//   %2 = var i32 {"n" 1 16}
//
// A node is a name, an operation, a type, its sources and its argument (ArgKind):
//   Value    after the type: 8, true, -0.5, inf, nan:0x7fc00001
//   Number   {3}                     Numbers  {0 2 1}
//   Axis     {0 loop}                Name     {"gpu:0"}
//   Place    {0 global}              Symbol   {"n"} or, with bounds as values, {"n" 1 16}
//   Fold     {add 1}                 Info     {"name" 1 2}, or nothing
// A printed node is named by its place in the toposort. What is read may call it anything of
// letters, digits and _, once, before it is used, and may hold nodes that the root does not use.
// Names between quotes hold any bytes (append_quoted). `#` begins a comment; blank lines, tabs and
// carriage returns do not matter.
//
// Printing and reading are linear in the text, and each undoes the other: same text, same key.
//
// A text says which version of the format it is in. Every version ever written is read for ever;
// one that is not known is refused.

// A word of letters a-z, digits, _ . and -
bool is_stage_name(std::string_view text);

// `stage` is such a name. All below root is well formed (verify) where it is to be read again.
std::string to_text(Graph& g, Ref root, std::string_view stage);

// What u carries besides sources, as it stands in the text: " {3 weak}", or nothing. A value stands
// before.
void append_arg(std::string& out, Ref u);

struct Parsed {
  Ref root = nullptr;
  std::string stage;
};

// Makes the nodes of a text in g. On an error g may hold some of them.
Result<Parsed> from_text(Graph& g, std::string_view text);

}  // namespace assay::uop
