#include "engine/schedule/history.h"

#include <algorithm>
#include <tuple>

#include "engine/check.h"
#include "engine/schedule/buckets.h"

namespace assay::schedule {

History::List History::keep(std::span<const int32_t> items) {
  const auto begin = static_cast<uint32_t>(pool_.size());
  pool_.insert(pool_.end(), items.begin(), items.end());
  return {begin, static_cast<uint32_t>(pool_.size())};
}

int32_t History::add(Version v) {
  const int32_t id = versions();
  const bool follows =
      v.prior >= 0 && at(v.prior).place + 1 == lines_[static_cast<size_t>(at(v.prior).line)].length;
  if (follows) {
    v.line = at(v.prior).line;
  } else {
    v.line = static_cast<int32_t>(lines_.size());
    lines_.push_back({v.prior, 0});
  }
  v.place = lines_[static_cast<size_t>(v.line)].length++;
  const bool is_new = v.prior < 0 || v.writers.begin != v.writers.end;
  v.content = is_new ? id : at(v.prior).content;
  versions_.push_back(v);
  for (const int32_t k : list(v.writers)) {
    int32_t& last = last_made_[static_cast<size_t>(k)];
    made_.push_back({id, last});
    last = static_cast<int32_t>(made_.size()) - 1;
  }
  return id;
}

int32_t History::start(int32_t buffer) {
  return add({.buffer = buffer, .writers = {}, .after = {}});
}

int32_t History::kernel(std::span<const int32_t> over, std::span<const int32_t> reads) {
  for (const auto taken : {over, reads}) {
    for (const int32_t v : taken) ASSAY_CHECK(0 <= v && v < versions(), "no version {}", v);
  }
  const List written = keep(over);
  kernels_.push_back({written, keep(reads)});
  last_made_.push_back(-1);
  return kernels() - 1;
}

// Whether b is a, or came of it.
bool History::is_or_precedes(int32_t a, int32_t b) const {
  while (b >= 0 && at(b).line != at(a).line) b = lines_[static_cast<size_t>(at(b).line)].prior;
  return b >= 0 && at(a).place <= at(b).place;
}

// Whether the kernel is a writer of the version or of one before it.
bool History::made(int32_t kernel, int32_t version) const {
  for (int32_t i = last_made_[static_cast<size_t>(kernel)]; i >= 0;) {
    const Made& m = made_[static_cast<size_t>(i)];
    if (is_or_precedes(m.version, version)) return true;
    i = m.next;
  }
  return false;
}

int32_t History::version(int32_t prior, std::span<const int32_t> writers,
                         std::span<const int32_t> joined, std::span<const int32_t> after) {
  ASSAY_CHECK(0 <= prior && prior < versions(), "no version {}", prior);
  std::vector<int32_t> made_by(writers.begin(), writers.end());
  std::vector<int32_t> waits(after.begin(), after.end());
  for (int32_t v : joined) {
    ASSAY_CHECK(buffer(v) == buffer(prior), "versions {} and {} joined", v, prior);
    for (; v >= 0 && !is_or_precedes(v, prior); v = at(v).prior) {
      const auto more = list(at(v).writers);
      made_by.insert(made_by.end(), more.begin(), more.end());
      const auto later = list(at(v).after);
      waits.insert(waits.end(), later.begin(), later.end());
    }
  }
  std::erase_if(made_by, [&](int32_t k) { return made(k, prior); });
  for (std::vector<int32_t>* items : {&made_by, &waits}) {
    std::sort(items->begin(), items->end());
    items->erase(std::unique(items->begin(), items->end()), items->end());
  }
  const List by = keep(made_by);
  return add({.buffer = buffer(prior), .prior = prior, .writers = by, .after = keep(waits)});
}

// What a version with writers is after, its writers wait for.
void History::makers(int32_t version, std::vector<int32_t>& out) const {
  for (int32_t v = version; v >= 0; v = at(v).prior) {
    const auto by = list(at(v).writers);
    out.insert(out.end(), by.begin(), by.end());
    if (!by.empty()) return;
    const auto earlier = list(at(v).after);
    out.insert(out.end(), earlier.begin(), earlier.end());
  }
}

// RAW, for all that kernels take.
void History::take(std::vector<Dependency>& out) const {
  std::vector<int32_t> first;
  for (int32_t k = 0; k < kernels(); k++) {
    first.clear();
    for (const int32_t v : over(k)) makers(v, first);
    for (const int32_t v : reads(k)) {
      if (std::find(over(k).begin(), over(k).end(), v) == over(k).end()) makers(v, first);
    }
    for (const int32_t m : first) out.push_back({m, k, EdgeKind::Raw, -1});
  }
}

// WAR and WAW, and RAW for what a version is after, for all that versions are made of.
void History::overwrite(std::vector<Dependency>& out) const {
  // Readers by content.
  std::vector<std::pair<int32_t, int32_t>> readers;
  for (int32_t k = 0; k < kernels(); k++) {
    for (const int32_t v : reads(k)) readers.emplace_back(at(v).content, k);
  }
  const std::vector<uint32_t> begins =
      bucket(readers, versions_.size(), [](const auto& r) { return static_cast<size_t>(r.first); });
  std::vector<int32_t> first;
  const auto before = [&](EdgeKind kind, int32_t version, std::span<const int32_t> writers) {
    for (const int32_t a : first) {
      for (const int32_t b : writers) {
        if (a != b) out.push_back({a, b, kind, version});
      }
    }
    first.clear();
  };
  for (const Version& v : versions_) {
    const auto by = list(v.writers);
    if (v.prior < 0 || by.empty()) continue;
    const int32_t content = at(v.prior).content;
    const auto c = static_cast<size_t>(content);
    for (uint32_t i = begins[c]; i < begins[c + 1]; i++) first.push_back(readers[i].second);
    before(EdgeKind::War, content, by);
    makers(v.prior, first);
    before(EdgeKind::Waw, -1, by);
    const auto earlier = list(v.after);
    first.assign(earlier.begin(), earlier.end());
    before(EdgeKind::Raw, -1, by);
  }
}

std::vector<Dependency> History::dependencies() const {
  std::vector<Dependency> all;
  take(all);
  overwrite(all);
  bucket(
      all, static_cast<size_t>(kernels()),
      [](const Dependency& d) { return static_cast<size_t>(d.from); },
      [](const Dependency& a, const Dependency& b) {
        return std::tuple(a.to, a.kind, a.version) < std::tuple(b.to, b.kind, b.version);
      });
  const auto is_same = [](const Dependency& a, const Dependency& b) {
    return a.from == b.from && a.to == b.to && (a.kind == EdgeKind::Raw || a.version == b.version);
  };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return all;
}

}  // namespace assay::schedule
