#include "reports/markup.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::reports {
namespace {

// The marks of direction, and those of no width, by their bytes.
size_t invisible_at(std::string_view text) {
  constexpr std::string_view kMarks[] = {"\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2028",
                                         "\u2029", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                                         "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff"};
  for (const std::string_view mark : kMarks) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

void append_code(std::string& out, std::string_view bytes) {
  out += "<span class=\"code\">";
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  out += "</span>";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    const size_t invisible = c == '\xe2' || c == '\xef' ? invisible_at(text.substr(i)) : 0;
    const bool is_control = static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t';
    if (invisible != 0 || is_control || c == '\x7f') {
      append_code(out, text.substr(i, std::max<size_t>(invisible, 1)));
      i += invisible != 0 ? invisible - 1 : 0;
      continue;
    }
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), "\u202f");
  }
  return digits;
}

std::string duration(double seconds) {
  if (seconds < 1) return fmt::format("{:.2f} s", seconds);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string counted(int64_t n, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", grouped(n), n == 1 ? one : more);
}

double percent(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }

std::string tile(std::string_view number, std::string_view what, std::string_view tone) {
  return fmt::format("<div class=\"tile\"><b class=\"{}\">{}</b><span>{}</span></div>\n", tone,
                     number, what);
}

std::string share(double percent_full) {
  return fmt::format(
      "<span class=\"share\"><span class=\"bar\"><i style=\"width:{:.1f}%\"></i></span>{:.0f} %"
      "</span>",
      std::clamp(percent_full, 0.0, 100.0), percent_full);
}

std::string heading(std::string_view id, std::string_view text) {
  return fmt::format("<h2 id=\"{}\">{}</h2>\n", id, text);
}

std::string none(std::string_view why) { return fmt::format("<p class=\"none\">{}</p>\n", why); }

std::string folded(std::string_view head, std::string_view html, bool is_open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", is_open ? " open" : "",
                     head, html);
}

std::string_view beginning(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) most--;
  return text.substr(0, most);
}

std::string clipped(std::string_view text, size_t most) {
  const std::string_view shown = beginning(text, most);
  const std::string_view rest = text.substr(shown.size());
  if (rest.empty()) return escaped(text);
  return fmt::format("{}<details class=\"rest\"><summary>… {} more letters</summary>{}</details>",
                     escaped(shown), grouped(static_cast<int64_t>(rest.size())), escaped(rest));
}

Table::Table(const std::vector<std::string>& heads) {
  for (const std::string& head : heads) {
    const std::string_view kind = head.starts_with('#') ? "n" : head.starts_with('~') ? "long" : "";
    columns_.push_back({kind.empty() ? head : head.substr(1), kind});
  }
}

void Table::row(const std::vector<Cell>& cells) {
  rows_ += "<tr>";
  for (size_t i = 0; i < cells.size(); i++) {
    rows_ +=
        fmt::format("<td class=\"{} {}\">{}</td>", columns_[i].kind, cells[i].tone, cells[i].html);
  }
  rows_ += "</tr>\n";
}

std::string Table::html() const {
  std::string text = "<div class=\"wide\"><table><thead><tr>";
  for (const Column& c : columns_) {
    text += fmt::format("<th class=\"{}\">{}</th>", c.kind, c.head);
  }
  return text + "</tr></thead><tbody>\n" + rows_ + "</tbody></table></div>\n";
}

}  // namespace assay::reports
