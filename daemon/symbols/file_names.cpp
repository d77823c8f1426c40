#include "symbols/file_names.hpp"

#include <errno.h>
#include <gelf.h>

#include <algorithm>
#include <optional>

#include "base/log.hpp"
#include "elf/elf_file.hpp"
#include "symbols/function_index.hpp"
#include "symbols/packed_symbols.hpp"

namespace fade::symbols {
namespace {

// The lowest address of the file's segments: the lowest mapping has it.
std::uint64_t lowest_address(const elf::ElfFile& file) {
  std::size_t count = 0;
  std::optional<std::uint64_t> lowest;
  if (::elf_getphdrnum(file.handle(), &count) != 0) return 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 65'536); ++i) {
    GElf_Phdr header;
    if (::gelf_getphdr(file.handle(), static_cast<int>(i), &header) && header.p_type == PT_LOAD && header.p_memsz > 0)
      lowest = std::min(lowest.value_or(header.p_vaddr), header.p_vaddr);
  }
  return lowest.value_or(0);
}

}  // namespace

// Members are destroyed from the bottom up: users of a file before the file.
struct FileNames::State {
  elf::ElfFile file;
  std::optional<elf::ElfFile> unpacked;
  std::uint64_t base = 0;
  FunctionIndex functions;
  std::optional<SourceLines> lines;
};

FileNames::FileNames(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileNames::FileNames(FileNames&&) noexcept = default;
FileNames& FileNames::operator=(FileNames&&) noexcept = default;
FileNames::~FileNames() = default;

Result<FileNames> FileNames::open(Fd fd, std::string name, const std::string& debug_root, Lines wanted) {
  auto file = elf::ElfFile::open(std::move(fd), std::move(name));
  if (!file) return tl::unexpected(std::move(file.error()));
  auto state = std::make_unique<State>(State{std::move(*file), {}, 0, {}, {}});
  state->base = lowest_address(state->file);
  state->file.attach_debug_file(debug_root);
  state->unpacked = unpack_symbols(state->file);
  state->functions.add(state->file);
  if (state->unpacked) state->functions.add(*state->unpacked);
  if (const elf::ElfFile* debug = state->file.debug_file()) state->functions.add(*debug);
  state->functions.finish();
  if (wanted == Lines::Unwanted) return FileNames(std::move(state));
  if (auto lines = SourceLines::open(state->file, debug_root)) state->lines = std::move(*lines);
  else if (lines.error().code != ENODATA) log::debug("{}", lines.error().text());  // most files have none
  return FileNames(std::move(state));
}

std::vector<Place> FileNames::at(std::uint64_t offset) {
  const std::uint64_t address = state_->base + offset;
  const std::string_view symbol = state_->functions.at(address);
  std::vector<Place> out = state_->lines ? state_->lines->at(address) : std::vector<Place>{};
  if (out.empty() && !symbol.empty()) out.emplace_back();
  // The symbol is more exact than the name in the debug information if that has no linkage name.
  if (!symbol.empty()) out.back().function = symbol;
  return out;
}

}  // namespace fade::symbols
