// Names the native frames of a recording from the files that were mapped, which their notices hold open: the program is
// not asked, and may be gone. Reading a file's symbols can take a second, so it is done while the writer is idle, and
// at the end. Until then a frame is a module and an offset. At any time the symbols of one file at most are in memory.
// Writer thread only.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/event.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class FrameNamer {
 public:
  FrameNamer(sqlite::Db& db, Failure& failure);

  void look_for_debug_files_in(std::string root) { debug_root_ = std::move(root); }
  void set_room(Room room) { room_ = std::move(room); }  // without room frames keep their addresses
  void on(const ModuleLoaded& notice);
  void on(const FrameSeen& notice, FrameRow row);

  // A file has frames to name, and has not been read in the last ten seconds before `now` (any clock, ns).
  bool is_due(std::int64_t now) const;
  // Names those of one such file. Call it within a transaction.
  void name_some(std::int64_t now);
  void name_all();

 private:
  struct Waiting {
    std::uint64_t offset = 0;
    FrameRow frame = 0;
  };
  struct File {
    std::shared_ptr<const Fd> fd;
    std::string path;
    std::vector<Waiting> frames;
    std::int64_t read_at = 0;
    bool was_read = false;
    bool is_due(std::int64_t now) const;
  };
  using FileId =
      std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;  // device, inode, size, time of change

  void name(File& file);

  std::string debug_root_;
  Room room_ = room_without_end;
  std::map<FileId, File> files_;
  std::unordered_map<ModuleId, File*> modules_;
  Write frame_, inline_;
};

}  // namespace fade::store
