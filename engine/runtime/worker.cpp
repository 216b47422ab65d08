#include "engine/runtime/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/uop/text.h"
#include "engine/uop/verify.h"

namespace assay::runtime {
namespace {

Error malformed() { return Error{"a malformed request", 0, 0}; }

Result<bool> write_all(int out, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(out, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return Error{fmt::format("an answer cannot be written: {}", std::strerror(errno)), 0, 0};
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// A LINEAR from its text, well formed.
Result<Ref> linear_from(Graph& g, std::string_view text) {
  ASSAY_TRY(parsed, uop::from_text(g, text));
  if (const auto error = uop::verify(g, parsed.root)) return Error{*error, 0, 0};
  return parsed.root;
}

}  // namespace

Result<std::string> Server::hello(Unpacker& u) {
  const bool has_profile = u.number() != 0;
  if (has_profile) profile_ = unpack_target(u);
  if (!u.is_done() || (has_profile && !profile_)) return malformed();
  ASSAY_TRY(device, open_(profile_ ? &*profile_ : nullptr));
  device_ = std::move(device);
  storages_.clear();
  kernels_.clear();
  Packer p;
  p.text(device_->name()).text(device_->driver());
  pack(p, device_->target());
  return p.take();
}

Result<std::string> Server::allocate(Unpacker& u) {
  const auto number = static_cast<uint32_t>(u.number());
  const int64_t bytes = u.number();
  const std::string_view label = u.text();
  if (!u.is_done() || storages_.contains(number)) return malformed();
  ASSAY_TRY(storage, device_->allocate(bytes, label));
  storages_[number] = storage;
  return std::string();
}

Result<std::string> Server::build(Unpacker& u) {
  Graph g;
  std::vector<uint32_t> numbers;
  std::vector<std::string> errors;
  std::vector<Ref> linears;
  std::vector<size_t> places;
  for (size_t n = u.count(); n > 0; n--) {
    numbers.push_back(static_cast<uint32_t>(u.number()));
    const Result<Ref> linear = linear_from(g, u.text());
    errors.push_back(linear.ok() ? "" : to_string(linear.error()));
    if (!linear.ok()) continue;
    places.push_back(errors.size() - 1);
    linears.push_back(linear.value());
  }
  if (!u.is_done()) return malformed();
  const std::vector<Result<KernelId>> built = device_->build(g, linears);
  for (size_t k = 0; k < built.size(); k++) {
    if (!built[k].ok()) {
      errors[places[k]] = built[k].error().message;
    } else if (!kernels_.emplace(numbers[places[k]], built[k].value()).second) {
      return malformed();
    }
  }
  Packer p;
  p.number(static_cast<int64_t>(errors.size()));
  for (const std::string& error : errors) p.text(error);
  return p.take();
}

Result<std::string> Server::run(Unpacker& u) {
  std::optional<Batch> batch = unpack_batch(u);
  if (!batch) return malformed();
  std::vector<std::vector<std::byte>> memory;
  memory.reserve(batch->commands.size());
  for (Command& c : batch->commands) {
    if (c.kind == Command::Kind::Launch) {
      const auto kernel = kernels_.find(c.kernel.number);
      if (kernel == kernels_.end()) return malformed();
      c.kernel = kernel->second;
    }
    for (View& v : c.views) {
      const auto storage = storages_.find(v.storage.number);
      if (storage == storages_.end()) return malformed();
      v.storage = storage->second;
      if (std::string error = device_->view_error(v); !error.empty()) return Error{error, 0, 0};
    }
    const bool is_read = c.kind == Command::Kind::Read && !c.views.empty();
    memory.emplace_back(is_read ? static_cast<size_t>(c.views[0].bytes) : 0);
    c.into = memory.back();
  }
  ASSAY_TRY(outcome, device_->run(std::move(*batch)));
  Packer p;
  pack(p, outcome);
  for (const std::vector<std::byte>& bytes : memory) {
    p.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return p.take();
}

Result<std::string> Server::dispatch(Say type, Unpacker& u) {
  if (type == Say::Hello) return hello(u);
  if (device_ == nullptr) return Error{"nobody has said hello", 0, 0};
  if (type == Say::Allocate) return allocate(u);
  if (type == Say::Build) return build(u);
  if (type == Say::Run) return run(u);
  return malformed();
}

std::optional<Frame> Server::answer(const Frame& request) {
  Unpacker u(request.payload);
  if (request.type == Say::Release || request.type == Say::Drop) {
    const auto number = static_cast<uint32_t>(u.number());
    if (const auto at = storages_.find(number);
        request.type == Say::Release && at != storages_.end()) {
      device_->release(at->second);
      storages_.erase(at);
    }
    if (const auto at = kernels_.find(number); request.type == Say::Drop && at != kernels_.end()) {
      device_->release(at->second);
      kernels_.erase(at);
    }
    return std::nullopt;
  }
  Result<std::string> said = dispatch(request.type, u);
  if (said.ok()) return Frame{Say::Answer, request.serial, std::move(said).value()};
  Packer p;
  p.text(said.error().message);
  return Frame{Say::Failed, request.serial, p.take()};
}

Result<bool> serve(Server& server, int in, int out) {
  FrameReader reader;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    for (;;) {
      ASSAY_TRY(request, reader.next());
      if (!request) break;
      const std::optional<Frame> answer = server.answer(*request);
      if (!answer) continue;
      const Result<bool> written = write_all(out, encode(*answer));
      if (!written.ok()) return written.error();
    }
    const ssize_t n = read(in, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{fmt::format("requests cannot be read: {}", std::strerror(errno)), 0, 0};
    if (n == 0 && reader.is_within()) return Error{"the requests end within a frame", 0, 0};
    if (n == 0) return true;
    reader.feed({buffer.data(), static_cast<size_t>(n)});
  }
}

Result<bool> serve_standard(Server& server) {
  // Who asks may be gone: then a write is an error, and no signal.
  std::signal(SIGPIPE, SIG_IGN);
  const int out = dup(STDOUT_FILENO);
  if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return Error{fmt::format("standard output: {}", std::strerror(errno)), 0, 0};
  }
  const Result<bool> served = serve(server, STDIN_FILENO, out);
  close(out);
  return served;
}

}  // namespace assay::runtime
