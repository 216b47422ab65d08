#include "reports/record.h"

#include <fmt/format.h>

#include <utility>

#include <nlohmann/json.hpp>

namespace assay::reports {
namespace {

using Json = nlohmann::ordered_json;

// The fields of each kind of record, once for writing and reading: `v(name, field)`, and `v.fact`
// for what depends on time or machine.
template <typename V>
void fields(V& v, Begin& r) {
  v("commit", r.commit);
  v("solver", r.solver);
  v("devices", r.devices);
  v("drivers", r.drivers);
  v("target", r.target);
  v("seed", r.seed);
  v("corpus", r.corpus);
  v.fact("machine", r.machine);
  v.fact("time", r.time);
}
template <typename V>
void fields(V& v, CaseRecord& r) {
  v("case", r.number);
  v("source", r.source);
  v("device", r.device);
  v("profile", r.profile);
  v("answer", r.answer);
  v("kernels", r.kernels);
  v("sharing", r.sharing);
  v("obligations", r.obligations);
  v("elements", r.elements);
  v("unspecified", r.unspecified);
  v("ambiguous", r.ambiguous);
  v("unknown", r.unknown);
  v("novel", r.novel);
  v("kept", r.is_kept);
  v("failure", r.failure);
  v("finding", r.finding);
  v.fact("ms", r.ms);
}
template <typename V>
void fields(V& v, FindingRecord& r) {
  v("case", r.number);
  v("judge", r.judge);
  v("stage", r.stage);
  v("shape", r.shape);
  v("evidence", r.evidence);
  v("pass", r.pass);
  v("rule", r.rule);
  v("title", r.title);
  v("program", r.program);
  v("folder", r.folder);
  v("rate", r.rate);
  v("device", r.device);
  v("blamed", r.blamed);
  v("on_sim", r.on_sim);
  v("command", r.command);
  v("statements", r.statements);
}
template <typename V>
void fields(V& v, CoverageRecord& r) {
  v("group", r.group);
  v("seen", r.seen);
  v("never", r.never);
}
template <typename V>
void fields(V& v, ProofRecord& r) {
  v("of", r.kind);
  v("name", r.name);
  v("answer", r.answer);
  v("strength", r.strength);
  v("evidence", r.evidence);
  v("methods", r.methods);
  v("causes", r.causes);
  v("obligations", r.obligations);
  v("unknown", r.unknown);
}
template <typename V>
void fields(V& v, ScoreRecord& r) {
  v("fault", r.fault);
  v("class", r.fault_class);
  v("judge", r.judge);
  v.fact("seconds", r.seconds);
  v("blamed_right", r.is_blamed_right);
  v("judges", r.judges);
  v("blame", r.blame);
  v("why", r.why);
}
template <typename V>
void fields(V& v, TargetRecord& r) {
  v("name", r.name);
  v("executions", r.executions);
  v("edges", r.edges);
  v("all_edges", r.all_edges);
  v("features", r.features);
  v("inputs", r.inputs);
  v("kept", r.kept);
  v("crashes", r.crashes);
  v("trouble", r.trouble);
  v.fact("seconds", r.seconds);
}
template <typename V>
void fields(V& v, StepRecord& r) {
  v("name", r.name);
  v("code", r.code);
  v.fact("seconds", r.seconds);
}
template <typename V>
void fields(V& v, End& r) {
  v.fact("digest", r.digest);
  v("cases", r.cases);
  v.fact("seconds", r.seconds);
  v("interrupted", r.is_interrupted);
  v.fact("spent", r.spent);
}

// The name of each kind, in the order of the variant.
constexpr std::string_view kKinds[] = {"begin", "case",   "finding", "coverage", "proof",
                                       "score", "target", "step",    "end"};
static_assert(std::size(kKinds) == std::variant_size_v<Record>);

struct Writing {
  Json json;
  bool with_facts;
  template <typename T>
  void operator()(const char* name, const T& field) {
    json[name] = field;
  }
  template <typename T>
  void fact(const char* name, const T& field) {
    if (with_facts) json[name] = field;
  }
};

// What is not there stays as it begins: records of older campaigns have fewer fields.
struct Reading {
  const Json& json;
  template <typename T>
  void operator()(const char* name, T& field) {
    if (json.contains(name)) field = json.at(name).get<T>();
  }
  template <typename T>
  void fact(const char* name, T& field) {
    (*this)(name, field);
  }
};

template <size_t... I>
std::optional<Record> read(const Json& j, std::string_view kind, std::index_sequence<I...>) {
  std::optional<Record> record;
  const auto one = [&](auto empty, std::string_view name) {
    if (name != kind) return;
    Reading reading{j};
    fields(reading, empty);
    record = std::move(empty);
  };
  (one(std::variant_alternative_t<I, Record>{}, kKinds[I]), ...);
  return record;
}

}  // namespace

std::string to_line(const Record& record, bool with_facts) {
  Writing writing{Json::object(), with_facts};
  writing.json["kind"] = kKinds[record.index()];
  std::visit([&](auto copy) { fields(writing, copy); }, record);
  return writing.json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<Record>> records_from(std::string_view text) {
  std::vector<Record> records;
  int line = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    // What was being written when its writer was killed is no record.
    if (end == std::string_view::npos) break;
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end + 1);
    line++;
    try {
      const Json j = Json::parse(one);
      const auto kind = j.at("kind").get<std::string>();
      auto record = read(j, kind, std::make_index_sequence<std::variant_size_v<Record>>());
      if (record) records.push_back(std::move(*record));
    } catch (const Json::exception& e) {
      return Error{fmt::format("no record: {}", e.what()), line};
    }
  }
  return records;
}

}  // namespace assay::reports
