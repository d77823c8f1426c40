// The streams in calls: the stream that a call uses, and streams that come and go.
#pragma once
#include <optional>

#include "store/books.hpp"
#include "store/recorded_call.hpp"

namespace fade::store {

class StreamRecorder {
 public:
  explicit StreamRecorder(Books& books) : devices_(books.devices), streams_(books.streams) {}

  // hipStreamCreate and its kin, hipStreamDestroy, hipStreamSynchronize.
  void create(const RecordedCall& call);
  void destroy(const RecordedCall& call);
  void synchronize(const RecordedCall& call);

  // The stream behind a handle that the call was given. Null: the call takes none, or no device is known to be there.
  StreamBook::Stream* used(const RecordedCall& call, std::optional<std::uint64_t> handle);
  // The handle that the call means: which default stream a function means by 0 depends on its name.
  static std::uint64_t meant(const RecordedCall& call, std::uint64_t handle);
  // The current device of the call's thread. kUnknownDevice has a row of its own: its counts belong to the process and
  // to none of its devices.
  DeviceRow device_of(const RecordedCall& call) { return devices_.row(call.process, call.thread.device); }
  // Changes whenever a stream may have become another.
  std::uint64_t forgotten() const { return streams_.forgotten(); }

 private:
  StreamBook::User user_of(const RecordedCall& call);

  DeviceBook& devices_;
  StreamBook& streams_;
};

}  // namespace fade::store
