#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/uop/text.h"
#include "props/kernel/subject.h"

// Claims are shown on the work-group machine, by the file that is their evidence.
namespace assay::props::kernel {
namespace {

using workgroup::Finding;
using workgroup::KernelFile;
using workgroup::Launch;

constexpr int64_t kMostBytes = int64_t{1} << 28;
constexpr int64_t kMostNodes = int64_t{1} << 27;

// The value of a form of variables alone; nothing where another atom is in it.
std::optional<int64_t> number_of(const Terms& terms, const Form& form,
                                 const interpreter::Variables& variables) {
  Int128 total = form.constant;
  for (const Form::Term& t : form.terms) {
    const uop::Ref node = terms.atom(t.atom).node;
    if (node == nullptr || node->op != uop::Op::Variable) return std::nullopt;
    const auto value = variables.find(node->arg.name());
    if (value == variables.end()) return std::nullopt;
    total += t.times * value->second;
  }
  return static_cast<int64_t>(total);
}

std::string standing_text(uop::Standing s) {
  if (s == uop::Standing::Nowhere) return "nowhere";
  return s == uop::Standing::Anywhere ? "anywhere" : "uniform";
}

// An argument is given from its beginning on: what nothing is said of is what it would be anyway.
std::string contents_text(const Inputs& inputs) {
  std::string text;
  for (const auto& [slot, elements] : inputs.contents) {
    text += fmt::format("# in {}:", slot);
    int64_t next = 0;
    for (const auto& [element, value] : elements) {
      for (; next < element; next++) text += fmt::format(" {}", (7 * next + 3 * slot) % 11);
      text += fmt::format(" {}", static_cast<int64_t>(value));
      next++;
    }
    text += "\n";
  }
  return text;
}

// What stands before the list in a file, but for what is expected; the reason why there is none.
Result<std::string> header(const Subject& s, std::string_view said, const Inputs& inputs) {
  const interpreter::Variables& variables = inputs.variables;
  std::string text = fmt::format("# {}\n", said);
  int64_t sizes[6];
  for (int bit = 0; bit < kFirstLoop; bit++) {
    const int32_t position = s.model.terms.position(bit);
    const uop::Ref special = position < 0 ? nullptr : s.model.terms.atom(position).node;
    std::optional<int64_t> n = 1;
    if (special != nullptr)
      n = number_of(s.model.terms, s.model.terms.form(special->src[0]), variables);
    if (!n || *n < 1) return Error{"no launch"};
    sizes[bit] = *n;
  }
  text += fmt::format("# launch {} {} {} x {} {} {}\n", sizes[0], sizes[1], sizes[2], sizes[3],
                      sizes[4], sizes[5]);
  for (const auto& [name, value] : variables) text += fmt::format("# set {} {}\n", name, value);
  int64_t bytes = 0;
  for (const Storage& storage : s.model.storages) {
    const std::optional<int64_t> n = number_of(s.model.terms, storage.size, variables);
    if (!n || *n > kMostBytes) return Error{"storage is too large to run"};
    bytes += *n * storage.bytes;
  }
  if (bytes > kMostBytes) return Error{"storage is too large to run"};
  text += contents_text(inputs);
  if (!s.target.memory) return text;
  const uop::MemoryContract& contract = *s.target.memory;
  if (contract.in_loop != uop::Standing::Uniform)
    text += fmt::format("# contract in_loop {}\n", standing_text(contract.in_loop));
  if (contract.in_branch != uop::Standing::Uniform)
    text += fmt::format("# contract in_branch {}\n", standing_text(contract.in_branch));
  return text;
}

struct Ran {
  std::set<std::string> always;     // "race %7 %11", found in every interleaving
  std::set<std::string> sometimes;  // in some
  std::string why;                  // nothing could be run
};

void run_once(KernelFile& k, const workgroup::Schedule& schedule, bool is_first, Ran& ran) {
  const Result<workgroup::KernelArguments> arguments = workgroup::arguments_of(k);
  if (!arguments.ok()) {
    ran.why = arguments.error().message;
    return;
  }
  workgroup::Options options;
  options.schedule = schedule;
  options.budget = kMostNodes;
  const Result<workgroup::Report> report = workgroup::execute(
      k.graph, k.linear, arguments.value().arguments, k.variables, k.launch, k.target, options);
  if (!report.ok()) {
    ran.why = report.error().message;
    return;
  }
  std::set<std::string> found;
  for (const Finding& f : report.value().findings) found.insert(workgroup::brief(f));
  for (const std::string& one : found) {
    if (!is_first && ran.always.count(one) == 0) ran.sometimes.insert(one);
  }
  if (is_first) ran.always = found;
  for (auto one = ran.always.begin(); one != ran.always.end();) {
    if (found.count(*one) != 0) {
      ++one;
      continue;
    }
    ran.sometimes.insert(*one);
    one = ran.always.erase(one);
  }
}

Ran run_all(KernelFile& k) {
  Ran ran;
  bool is_first = true;
  for (const workgroup::Schedule& schedule : workgroup::interleavings()) {
    run_once(k, schedule, is_first, ran);
    if (!ran.why.empty()) return ran;
    is_first = false;
  }
  return ran;
}

std::string brief(const Claim& claim) {
  std::string text(workgroup::to_text(claim.fault));
  for (const int line : claim.lines) text += fmt::format(" %{}", line);
  return text;
}

// Runs the list, with what stands before it; evidence is put into `file`.
Ran replay(const Subject& s, const std::string& before, std::string& file) {
  const std::string list = uop::to_text(s.graph, s.linear, "linear");
  KernelFile k;
  const Result<bool> read = workgroup::read_kernel(before + list, k);
  Ran ran;
  if (!read.ok()) {
    ran.why = to_string(read.error());
    return ran;
  }
  ran = run_all(k);
  file = before;
  for (const std::string& one : ran.always) file += fmt::format("# expect {}\n", one);
  for (const std::string& one : ran.sometimes) file += fmt::format("# may {}\n", one);
  file += list;
  return ran;
}

}  // namespace

Inputs inputs_of(const Subject& s, const Question& q, std::span<const Int128> values) {
  constexpr int64_t kMostElements = 4096;
  Inputs inputs = {q.variables(values), {}};
  Terms& terms = s.model.terms;
  const size_t atoms = terms.atom_count();
  for (size_t i = 0; i < atoms; i++) {
    const auto atom = static_cast<int32_t>(i);
    const uop::Ref node = terms.atom(atom).node;
    if (!terms.atom(atom).is_free || node == nullptr || !q.is_asked(atom)) continue;
    const bool is_lane = node->op == uop::Op::Index;
    const uop::Ref load = is_lane ? node->src[0] : node;
    const Int128 lane = is_lane ? uop::as_int(node->src[1]->value()) : 0;
    const auto is_it = [&](const Access& a) { return a.node == load; };
    const auto access = std::ranges::find_if(s.model.accesses, is_it);
    const Storage& storage = s.model.storages[static_cast<size_t>(access->storage)];
    if (storage.is_written || storage.space != uop::AddrSpace::Global) continue;
    const Form place = access->index == nullptr ? number_form(0) : terms.form(access->index);
    for (const int side : {0, 1}) {
      const Int128 element = q.value(side, place, values) + lane;
      if (element < 0 ||
          element >= std::min<Int128>(terms.range_of(storage.size).lo, kMostElements))
        continue;
      const Int128 value = q.value(side, atom, values);
      inputs.contents[static_cast<int>(storage.number)][static_cast<int64_t>(element)] = value;
    }
  }
  return inputs;
}

Result<std::string> file_of(const Subject& s, std::string_view said, const Inputs& inputs) {
  ASSAY_TRY(before, header(s, said, inputs));
  return before + uop::to_text(s.graph, s.linear, "linear");
}

void confirm(const Subject& s, const std::vector<Claim>& claims, std::string_view method,
             Checked& checked) {
  if (claims.empty()) return;
  Ran ran;
  std::string file;
  if (!s.context.confirms) {
    ran.why = "nothing was run";
  } else if (s.file != nullptr) {
    ran = run_all(*s.file);
  } else {
    const Claim& first = claims.front();
    const Result<std::string> before = header(s, first.text, first.inputs);
    if (before.ok()) {
      ran = replay(s, before.value(), file);
    } else {
      ran.why = before.error().message;
    }
  }
  for (const Claim& claim : claims) {
    const std::string name = brief(claim);
    const bool is_found = ran.always.count(name) + ran.sometimes.count(name) != 0;
    if (!is_found) {
      const std::string cause = fmt::format("unconfirmed {}", workgroup::to_text(claim.fault));
      checked.add_unknown(cause, fmt::format("{}: {}; {}", name, claim.text,
                                             ran.why.empty() ? "the machine finds none" : ran.why));
      continue;
    }
    if (s.refuted != nullptr) s.refuted->insert(name);
    const bool is_first = checked.verdict.answer != Answer::Fail;
    checked.add({Answer::Fail, Strength::Proved, fmt::format("{}: {}", name, claim.text)}, method);
    if (!is_first) continue;
    checked.shape = claim.shape;
    if (!file.empty())
      checked.evidence.push_back({fmt::format("{}.uop", workgroup::to_text(claim.fault)), file});
  }
}

}  // namespace assay::props::kernel
