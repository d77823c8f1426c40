#include "session/module_files.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "elf/mapped_file.hpp"
#include "proc/living_thread.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostOpenFiles = 512;

// Half of the files that fade may open are left to its other parts.
std::size_t most_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostOpenFiles;
  return static_cast<std::size_t>(std::min<rlim_t>(kMostOpenFiles, limit.rlim_cur / 2));
}

}  // namespace

bool ModuleFiles::has_room() {
  if (open_.size() >= most_) std::erase_if(open_, [](const auto& item) { return item.second.expired(); });
  return open_.size() < most_;
}

const elf::Maps& ModuleFiles::maps(TaskId task, const ProcFiles& proc) {
  if (maps_) return *maps_;
  living_ = living_thread(task, proc);
  most_ = most_files();
  return maps_.emplace(elf::read_maps(living_, proc).value_or(elf::Maps()));
}

std::shared_ptr<const Fd> ModuleFiles::of(TaskId task, RemoteAddr begin, const ProcFiles& proc) {
  const elf::Mapping* mapping = maps(task, proc).find(begin);
  if (!mapping || !mapping->has_file()) return nullptr;
  const FileId id{mapping->device, mapping->inode};
  if (const auto known = open_.find(id); known != open_.end())
    if (auto file = known->second.lock()) return file;
  if (!has_room()) return nullptr;
  auto fd = elf::open_mapped_file_of(living_, *mapping, proc);
  if (!fd) return nullptr;
  auto file = std::make_shared<const Fd>(std::move(*fd));
  open_[id] = file;
  return file;
}

}  // namespace fade
