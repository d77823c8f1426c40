#include "stack/code_file.hpp"

#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/own_memory.hpp"
#include "elf/mapped_file.hpp"
#include "stack/cfi_evaluator.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostFiles = 256;  // each file has a descriptor
constexpr std::size_t kMostRules = 1 << 20;
constexpr std::uint64_t kPage = 4096;

std::string libelf_says() {
  const char* text = ::elf_errmsg(-1);
  return text ? text : "";
}

}  // namespace

void CodeFile::Close::operator()(::Elf* elf) const { ::elf_end(elf); }
void CodeFile::Close::operator()(::Dwarf* dwarf) const { ::dwarf_end(dwarf); }
void CodeFile::Close::operator()(::Dwarf_CFI_s* cfi) const { ::dwarf_cfi_end(cfi); }
void CodeFile::Close::operator()(::Dwarf_Frame_s* frame) const { std::free(frame); }  // as dwarf_cfi_addrframe(3) says

Result<std::shared_ptr<CodeFile>> CodeFile::open(Fd fd, std::string name) {
  std::shared_ptr<CodeFile> file(new CodeFile);
  file->fd_ = std::move(fd);
  file->name_ = std::move(name);
  ::elf_version(EV_CURRENT);
  // Not mapped into fade's memory: a file that is truncated during reading must give an error and not a SIGBUS.
  file->elf_.reset(::elf_begin(file->fd_.get(), ELF_C_READ, nullptr));
  if (auto read = file->read_headers(); !read) return tl::unexpected(std::move(read.error()));
  return file;
}

Result<std::shared_ptr<CodeFile>> CodeFile::of_image(std::vector<std::byte> bytes, std::string name) {
  std::shared_ptr<CodeFile> file(new CodeFile);
  file->image_ = std::move(bytes);
  file->name_ = std::move(name);
  ::elf_version(EV_CURRENT);
  file->elf_.reset(::elf_memory(reinterpret_cast<char*>(file->image_.data()), file->image_.size()));
  if (auto read = file->read_headers(); !read) return tl::unexpected(std::move(read.error()));
  return file;
}

Result<void> CodeFile::read_headers() {
  const std::string what = "cannot read " + name_;
  GElf_Ehdr header;
  std::size_t n = 0;
  if (!elf_ || ::elf_kind(elf_.get()) != ELF_K_ELF || !::gelf_getehdr(elf_.get(), &header) ||
      ::elf_getphdrnum(elf_.get(), &n) != 0)
    return fail(what, libelf_says());
  if (::gelf_getclass(elf_.get()) != ELFCLASS64 || header.e_machine != EM_X86_64)
    return fail(what, "it is not a 64-bit x86 program or library");
  for (std::size_t i = 0; i < n; ++i) {
    GElf_Phdr h;
    if (::gelf_getphdr(elf_.get(), static_cast<int>(i), &h) && h.p_type == PT_LOAD)
      loads_.push_back({h.p_offset, h.p_filesz, h.p_vaddr, (h.p_flags & PF_X) != 0});
  }
  const auto is_code = [](const Load& load) { return load.is_code; };
  if (std::ranges::any_of(loads_, is_code)) std::erase_if(loads_, std::not_fn(is_code));
  return {};
}

// The kernel maps whole pages, so a part may begin before its loaded bytes. lld places parts side by side: a page of
// the file may belong to two parts, and is mapped with each. The later one is meant, because it begins there.
std::optional<std::uint64_t> CodeFile::bias(RemoteAddr begin, std::uint64_t offset) const {
  const auto found = std::find_if(loads_.rbegin(), loads_.rend(), [offset](const Load& load) {
    return offset + kPage > load.offset && (offset < load.offset || offset - load.offset < load.size);
  });
  if (found == loads_.rend()) return std::nullopt;
  return begin.value - (found->address + (offset - found->offset));
}

bool CodeFile::has_section(const char* name) const {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf_.get(), &names) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_.get(), section)) != nullptr;) {
    GElf_Shdr header;
    const char* its = ::gelf_getshdr(section, &header) ? ::elf_strptr(elf_.get(), names, header.sh_name) : nullptr;
    if (its && std::strcmp(its, name) == 0) return true;
  }
  return false;
}

// .debug_frame only if it exists, because all other debug information would be read with it.
void CodeFile::find_information() {
  if (std::exchange(has_looked_, true)) return;
  eh_frame_.reset(::dwarf_getcfi_elf(elf_.get()));
  if (!has_section(".debug_frame")) return;
  dwarf_.reset(::dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
  if (dwarf_) ::dwarf_new_oom_handler(dwarf_.get(), own_memory::ran_out);
  if (dwarf_) debug_frame_ = ::dwarf_getcfi(dwarf_.get());
}

CodeFile::Frame CodeFile::information(std::uint64_t address) {
  find_information();
  ::Dwarf_Frame* frame = nullptr;
  for (::Dwarf_CFI* cfi : {eh_frame_.get(), debug_frame_})
    if (cfi && ::dwarf_cfi_addrframe(cfi, address, &frame) == 0) return Frame(frame);
  return nullptr;
}

FrameRule CodeFile::rule(std::uint64_t address) {
  if (rules_.size() >= kMostRules) rules_.clear();
  const auto [it, is_new] = rules_.try_emplace(address);
  if (!is_new) return it->second;
  const Frame frame = information(address);
  return it->second = frame ? FrameRule::from(*frame) : FrameRule{};
}

bool CodeFile::step(std::uint64_t address, FrameRegisters& frame, const Memory& memory) {
  const Frame found = information(address);
  return found && step_by_cfi(*found, frame, memory);
}

Result<std::shared_ptr<CodeFile>> CodeFiles::of(Tid thread, const elf::Mapping& mapping) {
  auto fd = elf::open_mapped_file(thread, mapping);
  if (!fd) return tl::unexpected(std::move(fd.error()));
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno("cannot look at " + mapping.path);
  const Identity identity{info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size),
                          std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
  if (const auto known = files_.find(identity); known != files_.end()) return known->second;
  make_room();
  if (files_.size() >= kMostFiles)
    return fail("cannot read " + mapping.path, fmt::format("{} other files are in use", kMostFiles));
  auto file = CodeFile::open(std::move(*fd), mapping.path);
  if (file) files_.emplace(identity, *file);
  return file;
}

void CodeFiles::make_room() {
  if (files_.size() < kMostFiles) return;
  std::erase_if(files_, [](const auto& item) { return item.second.use_count() == 1; });
}

}  // namespace fade
