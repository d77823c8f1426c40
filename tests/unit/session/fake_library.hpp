// A shared library as it is mapped, made by hand: one segment with header, dynamic section, symbols and code. And the
// dynamic loader's list of such libraries, in the memory of a FakeProcess.
#pragma once
#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "session/fake_process.hpp"

namespace fade::test {

struct FakeLibrary {
  static constexpr std::uint64_t kCodeAt = 0x2000, kFunctionSize = 32, kSize = 0x8000;

  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> functions;  // the code of number i is at kCodeAt + i * kFunctionSize
  std::vector<std::string> indirect;   // behind them: IFUNCs

  static std::uint64_t code(std::size_t index) { return kCodeAt + index * kFunctionSize; }

  std::vector<std::byte> image() const {
    std::vector<std::byte> out(kSize);
    std::string strings(1, '\0');
    const auto text = [&](const std::string& of) {
      strings += of + '\0';
      return strings.size() - of.size() - 1;
    };
    const auto put = [&](std::uint64_t at, const auto& value) { std::memcpy(&out[at], &value, sizeof value); };
    std::vector<Elf64_Dyn> dynamic;
    const auto entry = [&](std::int64_t tag, std::uint64_t value) { dynamic.push_back({tag, {value}}); };
    for (const auto& one : needed) entry(DT_NEEDED, text(one));
    if (!soname.empty()) entry(DT_SONAME, text(soname));
    std::vector<Elf64_Sym> symbols(1);
    for (const bool is_indirect : {false, true})
      for (const auto& name : is_indirect ? indirect : functions) {
        const std::uint64_t at = code(symbols.size() - 1);
        const int type = is_indirect ? STT_GNU_IFUNC : STT_FUNC;
        symbols.push_back({static_cast<Elf64_Word>(text(name)),
                           static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type)), 0, 1, at, kFunctionSize});
        constexpr std::uint8_t kBody[] = {0x55, 0x48, 0x89, 0xE5, 0x41, 0x57, 0xC3};  // push; mov; push; ret
        std::memset(&out[at], 0x90, kFunctionSize);
        std::memcpy(&out[at], kBody, sizeof kBody);
      }
    constexpr std::uint64_t kDynamicAt = 0x200, kSymbolsAt = 0x800, kHashAt = 0x1000, kStringsAt = 0x1400;
    entry(DT_SYMTAB, kSymbolsAt);
    entry(DT_STRTAB, kStringsAt);
    entry(DT_STRSZ, strings.size());
    entry(DT_HASH, kHashAt);
    entry(DT_NULL, 0);
    for (std::size_t i = 0; i < dynamic.size(); ++i) put(kDynamicAt + i * sizeof(Elf64_Dyn), dynamic[i]);
    for (std::size_t i = 0; i < symbols.size(); ++i) put(kSymbolsAt + i * sizeof(Elf64_Sym), symbols[i]);
    const auto count = static_cast<std::uint32_t>(symbols.size());
    std::vector<std::uint32_t> hash{1, count, count > 1 ? 1u : 0u};  // one bucket: all symbols are in its chain
    for (std::uint32_t i = 0; i < count; ++i) hash.push_back(i == 0 || i + 1 == count ? 0 : i + 1);
    for (std::size_t i = 0; i < hash.size(); ++i) put(kHashAt + i * 4, hash[i]);
    std::memcpy(&out[kStringsAt], strings.data(), strings.size());
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = EM_X86_64;
    header.e_type = ET_DYN;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    put(0, header);
    put(sizeof header, Elf64_Phdr{PT_LOAD, PF_R | PF_X, 0, 0, 0, kSize, kSize, 0x1000});
    put(sizeof header + sizeof(Elf64_Phdr),
        Elf64_Phdr{PT_DYNAMIC, PF_R, kDynamicAt, kDynamicAt, kDynamicAt, dynamic.size() * sizeof(Elf64_Dyn),
                   dynamic.size() * sizeof(Elf64_Dyn), 8});
    return out;
  }
};

// The dynamic loader with its list. The list is what the test makes of it, also an impossible one.
class FakeLoader {
 public:
  static constexpr std::uint64_t kBase = 0x1'0000'0000, kList = kBase + 0x100'0000, kRoom = 0x100'0000;
  struct Node {
    std::uint64_t addr = 0, name = 0, dynamic = 0, next = 0, previous = 0;
  };

  explicit FakeLoader(FakeProcess& of) : process_(of) {
    put_library(kBase, {.soname = "ld-linux-x86-64.so.2", .functions = {"_dl_debug_state", "_r_debug"}});
    constexpr std::uint8_t kBody[] = {0xB8, 0, 0, 0, 0, 0xC3};  // mov $0, %eax; ret
    process_.put_bytes(kDebugState, kBody, sizeof kBody);
    constexpr std::uint8_t kGadget[] = {0x0F, 0x05, 0xC3};  // syscall; ret
    process_.put_bytes(kBase + FakeLibrary::kCodeAt + 0x1000, kGadget, sizeof kGadget);
    process_.map(kList, kList + kRoom, "rw-p 00000000 00:00 0");
    state(0);
    process_.put(kDebug, std::uint64_t{1});  // r_version
  }

  static constexpr std::uint64_t kDebugState = kBase + FakeLibrary::kCodeAt,
                                 kDebug = kDebugState + FakeLibrary::kFunctionSize;
  // The next free address: nothing is put there yet.
  std::uint64_t next_base() { return next_ += 0x10'0000; }

  // Maps the library, without a word to the list. `path`: in maps; empty: anonymous memory.
  void put_library(std::uint64_t base, const FakeLibrary& library, const std::string& path = {}) {
    const auto image = library.image();
    process_.put_bytes(base, image.data(), image.size());
    process_.map(base, base + image.size(),
                 path.empty() ? "r-xp 00000000 00:00 0" : fmt::format("r-xp 00000000 08:01 {} {}", ++inode_, path));
  }
  // 0: consistent; 1: about to add; 2: about to remove.
  void state(std::uint32_t value) const { process_.put(kDebug + 24, std::uint64_t{value}); }

  // The list's first entry, and one after the other; returns the place of the entry.
  std::uint64_t append(std::uint64_t base, const std::string& name) {
    const std::uint64_t at = node_at(last_++);
    nodes_.push_back({.addr = base, .name = at + sizeof(Node), .dynamic = base + 0x200});
    process_.put_text(at + sizeof(Node), name);
    write();
    return at;
  }
  void remove(std::uint64_t base) {
    std::erase_if(nodes_, [&](const Node& one) { return one.addr == base; });
    write();
  }
  static std::uint64_t node_at(std::size_t index) { return kList + index * 0x200; }
  // Changes one word of an entry as no loader would.
  void set_next(std::uint64_t node, std::uint64_t value) const { process_.put(node + offsetof(Node, next), value); }
  void set_name(std::uint64_t node, std::uint64_t value) const { process_.put(node + offsetof(Node, name), value); }

 private:
  // Entries keep their places: an entry's name is behind it.
  void write() const {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node one = nodes_[i];
      const std::uint64_t at = one.name - sizeof(Node);
      one.previous = before;
      one.next = i + 1 < nodes_.size() ? nodes_[i + 1].name - sizeof(Node) : 0;
      process_.put(at, one);
      before = at;
    }
    process_.put(kDebug + 8, nodes_.empty() ? std::uint64_t{0} : nodes_[0].name - sizeof(Node));
  }

  FakeProcess& process_;
  std::vector<Node> nodes_;
  std::uint64_t next_ = kBase + 0x400'0000;
  std::size_t last_ = 0;
  int inode_ = 100;
};

}  // namespace fade::test
