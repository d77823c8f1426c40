#include "store/stream_book.hpp"

namespace fade::store {
namespace {
constexpr std::size_t kMostStreams = 100'000;  // of one process
}

StreamBook::StreamBook(sqlite::Db& db, Failure& failure)
    : last_(db.integer("SELECT max(id) FROM stream_").value_or(0)),
      insert_(db, failure, "INSERT INTO stream_ (id, process, handle, device, ts) VALUES (?,?,?,?,?)"),
      end_(db, failure, "UPDATE stream_ SET ts_end = ?2 WHERE id = ?1"),
      uses_(db, failure, "UPDATE stream_ SET launches = ?2, copies = ?3, syncs = ?4 WHERE id = ?1") {}

void StreamBook::write_uses(Stream& stream) {
  if (!stream.changed) return;
  uses_(stream.row, stream.launches, stream.copies, stream.syncs);
  stream.changed = false;
}

void StreamBook::create(RowId process, std::uint64_t handle, DeviceRow device, std::int64_t at) {
  destroy(process, handle, at);
  used(process, handle, device, at);
}

void StreamBook::destroy(RowId process, std::uint64_t handle, std::int64_t at) {
  auto& streams = streams_[process];
  const auto found = streams.find(handle);
  if (found == streams.end()) return;
  write_uses(found->second);
  end_(found->second.row, at);
  streams.erase(found);
}

StreamBook::Stream& StreamBook::used(RowId process, std::uint64_t handle, DeviceRow device, std::int64_t at) {
  auto& streams = streams_[process];
  if (streams.size() >= kMostStreams) end_process(process);
  const auto [entry, fresh] = streams_[process].try_emplace(handle);
  if (fresh) {
    entry->second.row = ++last_;
    entry->second.device = device;
    insert_(last_, process, static_cast<std::int64_t>(handle), unless(device, 0), at);
  }
  entry->second.changed = true;
  return entry->second;
}

DeviceRow StreamBook::device_of(RowId process, std::uint64_t handle) const {
  const auto streams = streams_.find(process);
  if (streams == streams_.end()) return 0;
  const auto found = streams->second.find(handle);
  return found == streams->second.end() ? 0 : found->second.device;
}

void StreamBook::end_process(RowId process) {
  for (auto& [handle, stream] : streams_[process]) write_uses(stream);
  streams_.erase(process);
}

void StreamBook::flush() {
  for (auto& [process, streams] : streams_)
    for (auto& [handle, stream] : streams) write_uses(stream);
}

}  // namespace fade::store
