#include "session/auxiliary_vector.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "proc/living_thread.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostOfAStack = 1 << 17;  // words

AuxiliaryVector understood(std::span<const Elf64_auxv_t> items) {
  AuxiliaryVector out;
  std::uint64_t ids[AT_EGID + 1] = {};
  for (const auto& item : items) {
    const std::uint64_t value = item.a_un.a_val;
    if (item.a_type >= AT_UID && item.a_type <= AT_EGID) ids[item.a_type] = value;
    if (item.a_type == AT_NULL) break;
    if (item.a_type == AT_BASE) out.loader_base = {value};
    if (item.a_type == AT_ENTRY) out.entry = {value};
    if (item.a_type == AT_PHDR) out.program_headers = {value};
    if (item.a_type == AT_PHNUM) out.program_header_count = value;
    if (item.a_type == AT_SECURE) out.secure = value != 0;
  }
  out.has_other_ids = ids[AT_UID] != ids[AT_EUID] || ids[AT_GID] != ids[AT_EGID];
  return out;
}

}  // namespace

// From where the stack began: the number of arguments, they and a null, the environment and a null, the vector.
// unsetenv(3) leaves more nulls behind.
std::optional<AuxiliaryVector> read_auxiliary_vector_on_stack(Pid pid, const Memory& memory, const ProcFiles& proc) {
  const auto start = proc.stat(pid).number(StatFile::StartOfStack);
  if (!start) return std::nullopt;
  std::vector<std::uint64_t> words(kMostOfAStack);
  words.resize(memory.read({*start}, std::as_writable_bytes(std::span(words))) / sizeof words[0]);
  if (words.size() < 2 || words[0] > words.size() - 2) return std::nullopt;
  const auto environment = words.begin() + static_cast<std::ptrdiff_t>(words[0]) + 2;
  const auto end_of_environment = std::find(environment, words.end(), 0u);
  const auto at = std::find_if(end_of_environment, words.end(), [](std::uint64_t word) { return word != 0; });
  std::vector<Elf64_auxv_t> items(static_cast<std::size_t>(words.end() - at) / 2);
  if (items.empty()) return std::nullopt;
  std::memcpy(items.data(), &*at, items.size() * sizeof items[0]);
  return understood(items);
}

std::optional<AuxiliaryVector> read_auxiliary_vector(Pid pid, const Memory& memory, const ProcFiles& proc) {
  const std::string text = proc.read(living_thread(pid, proc), "auxv");
  if (text.empty()) return read_auxiliary_vector_on_stack(pid, memory, proc);
  std::vector<Elf64_auxv_t> items(text.size() / sizeof(Elf64_auxv_t));
  std::memcpy(items.data(), text.data(), items.size() * sizeof items[0]);
  return understood(items);
}

}  // namespace fade
