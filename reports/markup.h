#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reports {

// Pieces of a page. What comes from records is `escaped`; what is named `html` is markup already.

// Text as it is shown: markup is quoted, and letters that would be invisible or turn the line
// around (controls, marks of direction) stand as their numbers.
std::string escaped(std::string_view text);

// 1234567 as "1 234 567".
std::string grouped(int64_t n);
// 0.02 s, 3.4 s, 62 s, 5 min 3 s.
std::string duration(double seconds);
// "1 cause", "2 causes"; of the second form where there is not one.
std::string counted(int64_t n, std::string_view one, std::string_view more);
double percent(double part, double whole);

std::string tile(std::string_view number_html, std::string_view what_html,
                 std::string_view tone = "");
// A bar with its number beside it.
std::string share(double percent_full);
std::string heading(std::string_view id, std::string_view text);
std::string none(std::string_view why);
// A part that opens on a click.
std::string folded(std::string_view head_html, std::string_view html, bool is_open = false);
// No more letters than these, and none of them cut in two.
std::string_view beginning(std::string_view text, size_t most);
// A long text: its beginning, and the rest on a click.
std::string clipped(std::string_view text, size_t most = 400);

struct Cell {
  Cell(std::string html_text) : html(std::move(html_text)) {}  // NOLINT: most cells are no more
  Cell(std::string html_text, std::string_view its_tone)
      : html(std::move(html_text)), tone(its_tone) {}
  std::string html;
  std::string_view tone;  // "good", "bad", "doubt", or none
};

// A table that is scrolled where it is wider than the page. A column whose head begins with '#'
// holds numbers, one whose head begins with '~' long texts.
class Table {
 public:
  explicit Table(const std::vector<std::string>& heads);
  void row(const std::vector<Cell>& cells);
  std::string html() const;

 private:
  struct Column {
    std::string head;
    std::string_view kind;  // its class
  };
  std::vector<Column> columns_;
  std::string rows_;
};

}  // namespace assay::reports
