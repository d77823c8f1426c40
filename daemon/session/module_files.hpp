// The files of loaded modules, held open for later naming: by then they may be deleted, or the process gone. Tracing
// thread only.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "elf/maps.hpp"
#include "proc/proc_files.hpp"

namespace fade {

class ModuleFiles {
 public:
  // The mappings have changed, or another process is looked at.
  void look_again() { maps_.reset(); }
  // The mappings of the process of `task`, read once.
  const elf::Maps& maps(TaskId task, const ProcFiles& proc = ProcFiles());
  // The file that is mapped at `begin` of the process of `task`, open for reading. Null: it cannot be opened, or fade
  // holds so many files that its other parts could run short. A file is opened once, however many processes map it.
  std::shared_ptr<const Fd> of(TaskId task, RemoteAddr begin, const ProcFiles& proc = ProcFiles());

 private:
  using FileId = std::pair<dev_t, ino_t>;
  bool has_room();

  std::optional<elf::Maps> maps_;
  Tid living_ = 0;        // a thread of that process
  std::size_t most_ = 0;  // may be held open
  // An open file keeps its number.
  std::map<FileId, std::weak_ptr<const Fd>> open_;
};

}  // namespace fade
