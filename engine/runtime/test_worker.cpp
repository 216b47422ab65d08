// A worker that does what tests ask for:
//
//   test_worker                    serves a device whose kernels are one, inc and twice
//   test_worker cl NAME            serves the OpenCL device of that name
//   test_worker WHAT SAY           does WHAT in the place of its answer to the first SAY
//
// where SAY is hello, allocate, build or run, and WHAT is
//   crash      it kills itself          exit      it ends with 7
//   hang       it answers nothing       late      it answers after two seconds
//   truncate   half an answer, and ends checksum  a bit of the answer is wrong
//   version    of another version       garbage   bytes that are no frame
//   serial     an answer to another     malformed an answer of the right form that means nothing
//   flood      it fills its output before it reads on
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "engine/runtime/fake_device.h"
#include "engine/runtime/opencl/device.h"
#include "engine/runtime/worker.h"

namespace assay::runtime {
namespace {

void say(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n <= 0) std::_Exit(8);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void misbehave(std::string_view what, Frame answer) {
  std::string bytes = encode(answer);
  if (what == "crash") {
    std::signal(SIGSEGV, SIG_DFL);  // sanitizers make an ordinary end of it
    raise(SIGSEGV);
  }
  if (what == "exit") std::_Exit(7);
  if (what == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (what == "late") std::this_thread::sleep_for(std::chrono::seconds(2));
  if (what == "truncate") {
    say(std::string_view(bytes).substr(0, bytes.size() / 2));
    std::_Exit(0);
  }
  if (what == "checksum") bytes[16] ^= 1;
  if (what == "version") bytes[4] = 99;
  if (what == "garbage") bytes = "Segmentation fault\n";
  if (what == "serial") answer.serial++;
  if (what == "malformed") answer.payload = "what?";
  if (what == "serial" || what == "malformed") bytes = encode(answer);
  if (what == "flood") bytes = std::string(8 << 20, 'x');
  say(bytes);
}

int answer_all(std::string_view what, Say at) {
  Server server([](const Target* profile) -> Result<std::unique_ptr<Device>> {
    auto device = std::make_unique<FakeDevice>(
        "test:0", profile == nullptr ? FakeDevice::sample_target("test:0") : *profile);
    device->add_functions();
    device->room = int64_t{1} << 30;
    return std::unique_ptr<Device>(std::move(device));
  });
  FrameReader reader;
  std::array<char, 4096> buffer;
  for (;;) {
    const Result<std::optional<Frame>> request = reader.next();
    if (!request.ok()) return 9;
    if (request.value()) {
      const std::optional<Frame> answer = server.answer(*request.value());
      if (answer && !what.empty() && request.value()->type == at) {
        misbehave(what, *answer);
        what = "";
      } else if (answer) {
        say(encode(*answer));
      }
      continue;
    }
    const ssize_t n = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n <= 0) return 0;
    reader.feed({buffer.data(), static_cast<size_t>(n)});
  }
}

int serve_opencl(std::string_view name) {
  Server server([&](const Target* profile) {
    OpenOptions options;
    options.profile = profile;
    return opencl::opencl_kind().open(name, options);
  });
  return serve_standard(server).ok() ? 0 : 9;
}

}  // namespace
}  // namespace assay::runtime

int main(int argc, char** argv) {
  using assay::runtime::Say;
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::string_view at = argc > 2 ? argv[2] : "";
  if (what == "cl") return assay::runtime::serve_opencl(at);
  const Say say = at == "hello"      ? Say::Hello
                  : at == "allocate" ? Say::Allocate
                  : at == "build"    ? Say::Build
                                     : Say::Run;
  return assay::runtime::answer_all(what, say);
}
