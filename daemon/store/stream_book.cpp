#include "store/stream_book.hpp"

namespace fade::store {
namespace {
constexpr std::size_t kMostStreams = 100'000;  // of one process

// Where user space has no addresses there is room to tell the default streams apart.
std::uint64_t key_of(const StreamBook::User& user, std::uint64_t handle) {
  if (handle > kPerThreadStream) return handle;
  const auto device = static_cast<std::uint64_t>(user.device.value()),
             thread = static_cast<std::uint64_t>(user.thread.value());
  return 1ull << 63 | (handle == kPerThreadStream ? thread << 31 : 0) | (device & 0xfffffff) << 2 | handle;
}
}  // namespace

StreamBook::StreamBook(sqlite::Db& db, Failure& failure)
    : last_(last_row<StreamRow>(db, "stream_")),
      insert_(db, failure, "INSERT INTO stream_ (id, process, handle, device, ts, thread) VALUES (?,?,?,?,?,?)"),
      options_(db, failure, "UPDATE stream_ SET created = 1, flags = ?2, priority = ?3, cu_mask = ?4 WHERE id = ?1"),
      end_(db, failure, "UPDATE stream_ SET ts_end = ?2 WHERE id = ?1"),
      uses_(db, failure, "UPDATE stream_ SET launches = ?2, copies = ?3, syncs = ?4 WHERE id = ?1") {}

void StreamBook::write_uses(Stream& stream) {
  if (!stream.changed) return;
  uses_(stream.row, stream.launches, stream.copies, stream.syncs);
  stream.changed = false;
}

void StreamBook::create(const User& user, std::uint64_t handle, const Options& options) {
  destroy(user.process, handle, user.at);
  options_(used(user, handle).row, options.flags, options.priority, unless_empty(options.cu_mask));
}

void StreamBook::destroy(ProcessRow process, std::uint64_t handle, std::int64_t at) {
  auto& streams = streams_[process];
  const auto found = streams.find(handle);
  if (found == streams.end()) return;
  write_uses(found->second);
  end_(found->second.row, at);
  streams.erase(found);
  recent_ = {};
  ++forgotten_;
}

StreamBook::Stream& StreamBook::used(const User& user, std::uint64_t handle) {
  const std::uint64_t key = key_of(user, handle);
  Recent& used = recent(key);
  if (!used.stream || used.process != user.process || used.key != key) {
    Stream& stream = known(user, handle, key);
    used = {user.process, key, &stream};
  }
  used.stream->changed = true;
  return *used.stream;
}

StreamBook::Stream& StreamBook::known(const User& user, std::uint64_t handle, std::uint64_t key) {
  if (streams_[user.process].size() >= kMostStreams) end_process(user.process);
  const auto [entry, fresh] = streams_[user.process].try_emplace(key);
  Stream& stream = entry->second;
  if (!fresh) return stream;
  stream.row = ++last_;
  stream.device = user.device;
  insert_(last_, user.process, static_cast<std::int64_t>(handle), unless(user.device, 0), user.at,
          handle == kPerThreadStream ? unless(user.thread, 0) : std::nullopt);
  return stream;
}

DeviceRow StreamBook::device_of(ProcessRow process, std::uint64_t handle) const {
  const auto streams = streams_.find(process);
  if (streams == streams_.end()) return 0;
  const auto found = streams->second.find(handle);
  return found == streams->second.end() ? 0 : found->second.device;
}

void StreamBook::end_process(ProcessRow process) {
  for (auto& [handle, stream] : streams_[process]) write_uses(stream);
  streams_.erase(process);
  recent_ = {};
  ++forgotten_;
}

void StreamBook::flush() {
  for (auto& [process, streams] : streams_)
    for (auto& [handle, stream] : streams) write_uses(stream);
}

}  // namespace fade::store
