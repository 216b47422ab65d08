#include "engine/schedule/extension.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "engine/schedule/at.h"

namespace assay::schedule {
namespace {

class Sorter {
 public:
  Sorter(int32_t kernels, std::span<const Dependency> dependencies)
      : dependencies_(dependencies),
        gone_(dependencies.size()),
        leaving_(at(kernels) + 1),
        waits_for_(at(kernels)),
        done_(at(kernels)) {
    for (const Dependency& d : dependencies) {
      leaving_[at(d.from) + 1]++;
      waits_for_[at(d.to)]++;
    }
    std::partial_sum(leaving_.begin(), leaving_.end(), leaving_.begin());
    for (int32_t k = 0; k < kernels; k++) {
      if (waits_for_[at(k)] == 0) ready_.push(k);
    }
  }

  Extension sort() {
    Extension result;
    const size_t kernels = done_.size();
    size_t count = emit(result.order);
    while (count < kernels) {
      Circle circle = find_circle();
      const auto war = std::find_if(circle.begin(), circle.end(),
                                    [](const Dependency& d) { return d.kind == EdgeKind::War; });
      const Dependency broken = war == circle.end() ? Dependency{} : *war;
      const bool is_last = war == circle.end();
      result.circles.push_back(std::move(circle));
      if (is_last) break;
      take_away(broken);
      std::vector<int32_t> more;
      count += emit(more);
    }
    return result;
  }

 private:
  void settle(size_t dependency) {
    gone_[dependency] = 1;
    const int32_t to = dependencies_[dependency].to;
    if (--waits_for_[at(to)] == 0) ready_.push(to);
  }

  // Runs what can run.
  size_t emit(std::vector<int32_t>& order) {
    size_t count = 0;
    for (; !ready_.empty(); count++) {
      const int32_t k = ready_.top();
      ready_.pop();
      done_[at(k)] = 1;
      order.push_back(k);
      for (size_t d = leaving_[at(k)]; d < leaving_[at(k) + 1]; d++) {
        if (gone_[d] == 0) settle(d);
      }
    }
    return count;
  }

  void take_away(const Dependency& war) {
    for (size_t d = leaving_[at(war.from)]; d < leaving_[at(war.from) + 1]; d++) {
      const Dependency& other = dependencies_[d];
      if (gone_[d] == 0 && other.kind == EdgeKind::War && other.version == war.version) settle(d);
    }
  }

  // A kernel of a circle: whoever is left waits for another that is left.
  int32_t in_circle() const {
    std::vector<int32_t> waits_for(done_.size(), -1);
    for (size_t i = dependencies_.size(); i-- > 0;) {
      if (gone_[i] == 0) waits_for[at(dependencies_[i].to)] = dependencies_[i].from;
    }
    std::vector<char> met(done_.size());
    auto k = static_cast<int32_t>(std::find(done_.begin(), done_.end(), 0) - done_.begin());
    while (met[at(k)] == 0) {
      met[at(k)] = 1;
      k = waits_for[at(k)];
    }
    return k;
  }

  // The shortest way from a kernel back to itself.
  Circle find_circle() const {
    const int32_t start = in_circle();
    constexpr size_t kNone = SIZE_MAX;
    std::vector<size_t> by(done_.size(), kNone);  // the dependency by which a kernel was reached
    std::vector<int32_t> queue = {start};
    for (size_t i = 0; by[at(start)] == kNone; i++) {
      for (size_t d = leaving_[at(queue[i])]; d < leaving_[at(queue[i]) + 1]; d++) {
        const int32_t to = dependencies_[d].to;
        if (gone_[d] != 0 || by[at(to)] != kNone) continue;
        by[at(to)] = d;
        queue.push_back(to);
      }
    }
    Circle circle;
    int32_t k = start;
    do {
      circle.push_back(dependencies_[by[at(k)]]);
      k = circle.back().from;
    } while (k != start);
    std::reverse(circle.begin(), circle.end());
    const auto least =
        std::min_element(circle.begin(), circle.end(),
                         [](const Dependency& a, const Dependency& b) { return a.from < b.from; });
    std::rotate(circle.begin(), least, circle.end());
    return circle;
  }

  std::span<const Dependency> dependencies_;
  std::vector<char> gone_;       // met, or taken away
  std::vector<size_t> leaving_;  // where a kernel's dependencies begin
  std::vector<int32_t> waits_for_;
  std::vector<char> done_;
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready_;
};

}  // namespace

Extension linear_extension(int32_t kernels, std::span<const Dependency> dependencies) {
  return Sorter(kernels, dependencies).sort();
}

}  // namespace assay::schedule
