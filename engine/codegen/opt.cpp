#include "engine/codegen/opt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "engine/check.h"

namespace assay::codegen {
namespace {

using uop::AxisType;

constexpr OptInfo kOpts[] = {
    {OptKind::Local, "LOCAL", 2, AxisType::Local},
    {OptKind::Upcast, "UPCAST", 2, AxisType::Upcast},
    {OptKind::Unroll, "UNROLL", 2, AxisType::Unroll, true},
    {OptKind::Group, "GROUP", 2, AxisType::GroupReduce, true},
    {OptKind::GroupTop, "GROUPTOP", 2, AxisType::GroupReduce, true, true},
    {OptKind::PadTo, "PADTO", 2, std::nullopt},
    {OptKind::Swap, "SWAP", 2, std::nullopt},
    {OptKind::NoLocals, "NOLOCALS", 0, std::nullopt},
};
static_assert(std::size(kOpts) == kOptKinds);

constexpr std::string_view kNone = "NONE";

// Reads one opt from the front of `text`, in steps that each may fail.
class OptReader {
 public:
  OptReader(std::string_view text, size_t at) : text_(text), at_(at) {}

  size_t at() const { return at_; }
  Error error(std::string message) const { return error_at(text_, at_, std::move(message)); }
  bool is_at_end() const { return at_ == text_.size() || text_[at_] == ' '; }

  std::string_view word() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= 'A' && text_[at_] <= 'Z') ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool skip(char c) {
    const bool is_there = at_ < text_.size() && text_[at_] == c;
    if (is_there) ++at_;
    return is_there;
  }
  std::optional<int64_t> number() {
    int64_t n = 0;
    const char* begin = text_.data() + at_;
    const auto [end, trouble] = std::from_chars(begin, text_.data() + text_.size(), n);
    if (trouble != std::errc() || n < 0) return std::nullopt;
    at_ += static_cast<size_t>(end - begin);
    return n;
  }

 private:
  std::string_view text_;
  size_t at_;
};

Result<Opt> read_opt(OptReader& reader) {
  const OptReader start = reader;
  const std::string_view word = reader.word();
  if (word == "TC") return start.error("opt TC is not in this engine yet");
  const auto* row = std::ranges::find(kOpts, word, &OptInfo::text);
  if (row == std::end(kOpts)) {
    if (word.empty()) return start.error("expected an opt");
    return start.error(fmt::format("there is no opt {}", quoted(word)));
  }
  Opt opt = {row->kind};
  if (row->arguments == 2) {
    if (!reader.skip('(')) return reader.error(fmt::format("expected ( after {}", row->text));
    for (int64_t* argument : {&opt.axis, &opt.amount}) {
      if (argument == &opt.amount && !reader.skip(',')) return reader.error("expected ,");
      const std::optional<int64_t> n = reader.number();
      if (!n) return reader.error("expected a number that is not negative");
      *argument = *n;
    }
    if (!reader.skip(')')) return reader.error("expected )");
  }
  if (!reader.is_at_end()) return reader.error(fmt::format("expected a blank after {}", row->text));
  return opt;
}

}  // namespace

const OptInfo& info(OptKind kind) { return kOpts[static_cast<int>(kind)]; }

std::string to_text(const Opt& opt) {
  const OptInfo& row = info(opt.kind);
  if (row.arguments == 0) return std::string(row.text);
  return fmt::format("{}({},{})", row.text, opt.axis, opt.amount);
}

std::string to_text(std::span<const Opt> opts) {
  if (opts.empty()) return std::string(kNone);
  std::string text;
  for (const Opt& opt : opts) {
    if (!text.empty()) text += ' ';
    text += to_text(opt);
  }
  return text;
}

Result<std::vector<Opt>> opts_from_text(std::string_view text) {
  std::vector<Opt> opts;
  if (text == kNone) return opts;
  OptReader reader(text, 0);
  do {
    ASSAY_TRY(opt, read_opt(reader));
    opts.push_back(opt);
  } while (reader.skip(' '));
  return opts;
}

KernelName kernel_name(uop::Ref kernel) {
  if (kernel->arg.kind != uop::ArgKind::Info) return {};
  const std::string_view text = kernel->arg.name();
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, blank), text.substr(blank + 1)};
}

uop::Ref with_opts(uop::Graph& g, uop::Ref kernel, std::span<const Opt> opts) {
  ASSAY_CHECK(kernel->op == uop::Op::Sink);
  const std::string text = fmt::format("{} {}", kernel_name(kernel).name, to_text(opts));
  std::vector<int64_t> numbers;
  if (kernel->arg.kind == uop::ArgKind::Info) {
    numbers.assign(kernel->arg.numbers().begin(), kernel->arg.numbers().end());
  }
  const uop::Arg arg = g.info(text, numbers);
  return g.make(kernel->op, kernel->dtype, kernel->src, arg);
}

}  // namespace assay::codegen
