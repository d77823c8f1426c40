#include "store/frame_namer.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "base/demangle.hpp"
#include "base/glob.hpp"
#include "base/log.hpp"
#include "elf/elf_file.hpp"
#include "symbols/file_names.hpp"

namespace fade::store {
namespace {

constexpr std::int64_t kPause = 10'000'000'000;
constexpr std::size_t kFramesAtOnce = 16;
constexpr std::size_t kMostName = 1'000;  // bytes; templates can be longer, and no reader needs the rest

// Cut between characters.
std::string shortened(std::string text) {
  if (text.size() <= kMostName) return text;
  std::size_t end = kMostName;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

// Readers of a stack do not need the line in the C library; unpacking its debug file takes longer than many a program
// runs.
symbols::Lines lines_wanted(std::string_view path) {
  constexpr std::string_view kCLibrary[] = {"libc.so", "libc-2.", "ld-linux", "ld-2.", "ld-musl"};
  const std::string_view name = base_name(path);
  const bool is_c_library =
      std::ranges::any_of(kCLibrary, [&](std::string_view begin) { return name.starts_with(begin); });
  return is_c_library ? symbols::Lines::Unwanted : symbols::Lines::Wanted;
}

std::string readable(const std::string& function) { return shortened(function_name(function)); }

}  // namespace

FrameNamer::FrameNamer(sqlite::Db& db, Failure& failure)
    : debug_root_(elf::kDebugRoot),
      frame_(db, failure, "UPDATE frame_ SET name = ?2, file = ?3, line = ?4 WHERE id = ?1"),
      inline_(db, failure, "INSERT OR REPLACE INTO inline_ VALUES (?,?,?,?,?)") {}

bool FrameNamer::File::is_due(std::int64_t now) const {
  return !frames.empty() && (!was_read || now - read_at >= kPause);
}

void FrameNamer::on(const ModuleLoaded& n) {
  struct stat info {};
  if (!n.file || ::fstat(n.file->get(), &info) != 0) return;
  const FileId id{info.st_dev, info.st_ino, info.st_size,
                  info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec};
  File& file = files_.try_emplace(id, File{n.file, n.path, {}, 0, false}).first->second;
  modules_[n.module] = &file;
}

void FrameNamer::on(const FrameSeen& n, FrameRow row) {
  if (n.kind != FrameSeen::Kind::Native || !n.function.empty()) return;
  const auto module = modules_.find(n.module);
  if (module != modules_.end()) module->second->frames.push_back({n.offset, row});
}

bool FrameNamer::is_due(std::int64_t now) const {
  return std::any_of(files_.begin(), files_.end(), [&](const auto& f) { return f.second.is_due(now); });
}

void FrameNamer::name_some(std::int64_t now) {
  const auto due = std::find_if(files_.begin(), files_.end(), [&](const auto& f) { return f.second.is_due(now); });
  if (due == files_.end()) return;
  due->second.read_at = now;
  name(due->second);
}

void FrameNamer::name_all() {
  for (auto& [id, file] : files_)
    if (!file.frames.empty()) name(file);
}

void FrameNamer::name(File& file) {
  std::vector<Waiting> frames = std::exchange(file.frames, {});
  file.was_read = true;
  auto names = symbols::FileNames::open(Fd(::fcntl(file.fd->get(), F_DUPFD_CLOEXEC, 0)), file.path, debug_root_,
                                        lines_wanted(file.path));
  if (!names) return log::debug("{}", names.error().text());
  std::sort(frames.begin(), frames.end(), [](const Waiting& a, const Waiting& b) {
    return std::tie(a.offset, a.frame) < std::tie(b.offset, b.frame);
  });
  for (std::size_t n = 0; n < frames.size(); ++n) {
    if (n % kFramesAtOnce == 0 && room_() < kFramesAtOnce * kMostName) return;
    const Waiting& waiting = frames[n];
    const std::vector<symbols::Place> places = names->at(waiting.offset);
    if (places.empty()) continue;
    const symbols::Place& called = places.back();
    frame_(waiting.frame, unless_empty(readable(called.function)), unless_empty(called.file), unless(called.line, 0));
    for (std::size_t i = 0; i + 1 < places.size(); ++i)
      inline_(waiting.frame, i, readable(places[i].function), unless_empty(places[i].file), unless(places[i].line, 0));
  }
}

}  // namespace fade::store
