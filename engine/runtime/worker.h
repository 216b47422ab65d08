#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "engine/runtime/devices.h"
#include "engine/runtime/protocol.h"

namespace assay::runtime {

// The child's side: answers requests about one device, which is opened when the other side says
// hello, under the profile that it sends.
class Server {
 public:
  using Open = std::function<Result<std::unique_ptr<Device>>(const Target* profile)>;
  explicit Server(Open open) : open_(std::move(open)) {}

  // The answer; nothing to a request that has none. What is malformed, or names what is not there,
  // gets a Failed.
  std::optional<Frame> answer(const Frame& request);

 private:
  Result<std::string> hello(Unpacker& u);
  Result<std::string> allocate(Unpacker& u);
  Result<std::string> build(Unpacker& u);
  Result<std::string> run(Unpacker& u);
  Result<std::string> dispatch(Say type, Unpacker& u);

  Open open_;
  std::optional<Target> profile_;
  std::unique_ptr<Device> device_;
  std::map<uint32_t, StorageId> storages_;  // by the other side's numbers
  std::map<uint32_t, KernelId> kernels_;
};

// Reads requests from `in` and writes answers to `out` until there are no more. An error says what
// could not be read or written.
Result<bool> serve(Server& server, int in, int out);

// The same on standard input and output, which nobody else writes to from then on: what drivers
// print goes to standard error.
Result<bool> serve_standard(Server& server);

}  // namespace assay::runtime
