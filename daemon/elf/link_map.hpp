// The dynamic linker's list of loaded objects: its r_debug list (System V "rendezvous", glibc's elf/link.h), walked in
// foreign memory. LinkMap remembers the list, so that after a dlopen only the new tail is read. Knows no breakpoints;
// the caller stops at debug_state and calls update().
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"

namespace fade::elf {

// The loader's own symbols. Valid from exec on, before the loader has run.
struct Loader {
  RemoteAddr r_debug;
  RemoteAddr debug_state;  // called before and after each change of the list; the future value of r_brk
  RemoteAddr rseq_offset;  // the address of __rseq_offset (glibc >= 2.35), else null
};
Result<Loader> find_loader(const Memory& memory, RemoteAddr loader_base);

enum class LoaderState : std::uint8_t { Consistent, Adding, Deleting };

struct LinkMapEntry {
  RemoteAddr at;             // of the struct link_map
  std::uint64_t l_addr = 0;  // load bias
  RemoteAddr l_ld;           // dynamic section
  std::string name;          // path as the loader opened it; empty for the program, a bare name for the vDSO
  std::uint32_t space = 0;   // 0: base namespace; higher numbers are of dlmopen
};

struct LinkMapChange {
  LoaderState state = LoaderState::Consistent;
  std::vector<LinkMapEntry> added, removed;
  bool damaged = false;  // the list has a cycle, is too long or has unreadable entries: the readable entries count
};

class LinkMap {
 public:
  explicit LinkMap(RemoteAddr r_debug) : r_debug_(r_debug) {}

  // Call at every stop at debug_state. While the loader changes the list, the result is empty and only the state is
  // remembered. Once the list is consistent again, the result has the changes. Fails only if r_debug is unreadable.
  Result<LinkMapChange> update(const Memory& memory);
  // Reads the whole list again in any state: at attach, and after changes that may have been missed.
  Result<LinkMapChange> reread(const Memory& memory);

  // Everything loaded, by namespace in load order. The loader itself and the vDSO occur once in every namespace, with
  // the same l_addr.
  std::vector<LinkMapEntry> entries() const;

 private:
  struct Space {
    std::vector<LinkMapEntry> loaded;
    LoaderState last = LoaderState::Deleting;  // unknown: the first update reads the whole list
  };
  struct Header;
  struct PlacedHeader;
  struct Node;
  Result<std::vector<PlacedHeader>> headers(const Memory& memory) const;
  static std::optional<Node> node(const Memory& memory, RemoteAddr at);
  void walk_all(const Memory& memory, std::uint32_t space, RemoteAddr first, LinkMapChange& change);
  bool walk_tail(const Memory& memory, std::uint32_t space, LinkMapChange& change);
  Result<LinkMapChange> look(const Memory& memory, bool everything);

  RemoteAddr r_debug_;
  std::vector<Space> spaces_;
};

}  // namespace fade::elf
