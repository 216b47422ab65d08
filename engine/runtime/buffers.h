#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/devices.h"
#include "engine/tensor/session.h"

namespace assay::runtime {

// Storage that someone else owns: a camera's frame.
struct External {
  Device* device = nullptr;
  View view;
  uop::DType dtype = uop::Void;
  std::string owner;       // for messages
  bool may_alias = false;  // what it shares bytes with may be bound as well
};

// The storage behind the BUFFERs of a session, by their numbers. What a run left invalid stays so,
// and is not read, until it is written as a whole.
class Buffers {
 public:
  struct Entry {
    Device* device = nullptr;
    View view;
    std::string label;    // "b3"
    std::string invalid;  // why its bytes mean nothing; "" where they do
    std::string owner;    // of external storage
    bool is_external = false;
    bool may_alias = false;
  };

  explicit Buffers(Devices& devices) : devices_(devices) {}
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  Devices& devices() { return devices_; }

  // The entry of a BUFFER that has storage; nullptr where it has none.
  Entry* find(Ref buffer);
  // The same, with storage made on the device that the BUFFER names.
  Result<Entry*> make(Graph& g, Ref buffer);
  // All bytes of a BUFFER, which is made where it is not there.
  Result<bool> write(Graph& g, Ref buffer, std::span<const std::byte> bytes);
  // An error where it was never made, is invalid, or of another generation of its device.
  Result<std::vector<std::byte>> read(Ref buffer);

  // From now on the BUFFER is that storage, which is neither planned nor released here. Its device,
  // type, size, alignment and generation are checked, and that no other bound BUFFER has bytes of
  // it, unless both say so. It may be bound anew between runs.
  Result<bool> bind(Graph& g, Ref buffer, const External& external);

  // Gives the storage of a BUFFER back, or forgets what is bound to it.
  void drop(Ref buffer);
  // The same for all that no live value of the session names.
  void drop_dead(tensor::Session& session);

  size_t size() const { return entries_.size(); }
  const std::map<int64_t, Entry>& entries() const { return entries_; }

 private:
  void release(const Entry& entry);

  Devices& devices_;
  std::map<int64_t, Entry> entries_;
};

// What a view of a device's storage holds; an error calls it by its label.
Result<std::vector<std::byte>> read_view(Device& device, const View& view, std::string_view label);

// Bytes of a BUFFER: those of its largest size, where it is symbolic.
Result<int64_t> buffer_bytes(Graph& g, Ref buffer);

}  // namespace assay::runtime
