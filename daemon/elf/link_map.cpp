#include "elf/link_map.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "elf/dynamic_image.hpp"

namespace fade::elf {
namespace {

constexpr std::size_t kMaxEntries = 16'384;  // per namespace
constexpr std::size_t kMaxSpaces = 64;       // glibc has 16
constexpr std::size_t kMaxPath = 4096;

LoaderState decoded(std::uint32_t r_state) {
  return r_state == 0 ? LoaderState::Consistent : r_state == 1 ? LoaderState::Adding : LoaderState::Deleting;
}

}  // namespace

// struct r_debug; the last word is r_next of struct r_debug_extended, which is there if r_version >= 2.
struct LinkMap::Header {
  std::uint32_t r_version, padding;
  RemoteAddr r_map, r_brk;
  std::uint32_t r_state, padding_too;
  RemoteAddr r_ldbase, r_next;
};
struct LinkMap::PlacedHeader {
  RemoteAddr at;
  Header header;
};

// The public part of struct link_map.
struct LinkMap::Node {
  std::uint64_t l_addr;
  RemoteAddr l_name, l_ld, l_next, l_prev;

  bool is(const LinkMapEntry& known) const { return l_addr == known.l_addr && l_ld == known.l_ld; }
};

Result<Loader> find_loader(const Memory& memory, RemoteAddr loader_base) {
  const auto image = DynamicImage::open(memory, loader_base);
  if (!image) return tl::unexpected(with_context("cannot read the dynamic linker", image.error()));
  const auto address = [&](const char* name) {
    const auto symbol = image->lookup(name);
    return symbol ? image->address(*symbol) : RemoteAddr{};
  };
  const Loader loader{address("_r_debug"), address("_dl_debug_state"), address("__rseq_offset")};
  if (loader.r_debug && image->in_code(loader.debug_state)) return loader;
  return fail(fmt::format("cannot follow the libraries of this program: its dynamic linker at {:#x} has no _r_debug "
                          "or no _dl_debug_state",
                          loader_base.value),
              "it is not the dynamic linker of the GNU C library");
}

std::optional<LinkMap::Node> LinkMap::node(const Memory& memory, RemoteAddr at) {
  return at ? memory.value<Node>(at) : std::nullopt;
}

Result<std::vector<LinkMap::PlacedHeader>> LinkMap::headers(const Memory& memory) const {
  std::vector<PlacedHeader> out;
  for (RemoteAddr at = r_debug_; at && out.size() < kMaxSpaces;) {
    Header header{};
    if (memory.read(at, std::as_writable_bytes(std::span(&header, 1))) < offsetof(Header, r_next)) break;
    out.push_back({at, header});
    at = out.front().header.r_version >= 2 ? header.r_next : RemoteAddr{};
  }
  if (out.empty())
    return fail(fmt::format("cannot read the dynamic linker's list at {:#x}", r_debug_.value),
                "the memory is not readable");
  return out;
}

void LinkMap::walk_all(const Memory& memory, std::uint32_t space, RemoteAddr first, LinkMapChange& change) {
  auto& loaded = spaces_[space].loaded;
  std::unordered_map<RemoteAddr, LinkMapEntry> before;
  for (auto& entry : loaded) before.emplace(entry.at, std::move(entry));
  loaded.clear();
  std::unordered_set<RemoteAddr> seen;
  for (RemoteAddr at = first; at;) {
    const auto n = node(memory, at);
    if (!n || loaded.size() >= kMaxEntries || !seen.insert(at).second) {
      change.damaged = true;
      break;
    }
    if (auto known = before.find(at); known != before.end() && n->is(known->second)) {
      loaded.push_back(std::move(known->second));
      before.erase(known);
    } else {
      loaded.push_back({at, n->l_addr, n->l_ld, memory.c_string(n->l_name, kMaxPath).value_or(""), space});
      change.added.push_back(loaded.back());
    }
    at = n->l_next;
  }
  for (auto& [at, entry] : before) change.removed.push_back(std::move(entry));
}

// glibc appends to the list. Returns false if the tail has changed in another way; then the whole list must be walked.
bool LinkMap::walk_tail(const Memory& memory, std::uint32_t space, LinkMapChange& change) {
  auto& loaded = spaces_[space].loaded;
  if (loaded.empty()) return false;
  const auto tail = node(memory, loaded.back().at);
  if (!tail || !tail->is(loaded.back())) return false;
  RemoteAddr before = loaded.back().at;
  std::vector<LinkMapEntry> fresh;
  for (RemoteAddr at = tail->l_next; at;) {
    const auto n = node(memory, at);
    if (!n || n->l_prev != before || loaded.size() + fresh.size() >= kMaxEntries) return false;
    fresh.push_back({at, n->l_addr, n->l_ld, memory.c_string(n->l_name, kMaxPath).value_or(""), space});
    before = at;
    at = n->l_next;
  }
  change.added.insert(change.added.end(), fresh.begin(), fresh.end());
  loaded.insert(loaded.end(), fresh.begin(), fresh.end());
  return true;
}

Result<LinkMapChange> LinkMap::look(const Memory& memory, bool everything) {
  const auto found = headers(memory);
  if (!found) return tl::unexpected(found.error());
  if (spaces_.size() < found->size()) spaces_.resize(found->size());
  // If the change is known to be in one namespace, the other namespaces need not be read.
  const bool placed = !everything && std::any_of(spaces_.begin(), spaces_.end(),
                                                 [](const Space& s) { return s.last != LoaderState::Consistent; });
  LinkMapChange change;
  for (std::uint32_t i = 0; i < found->size(); ++i) {
    const auto& header = (*found)[i].header;
    auto& space = spaces_[i];
    const LoaderState state = decoded(header.r_state);
    if (state != LoaderState::Consistent) change.state = state;
    const bool grew = !everything && space.last == LoaderState::Adding;
    const bool untouched = placed && space.last == LoaderState::Consistent;
    if ((state == LoaderState::Consistent || everything) && !untouched && !(grew && walk_tail(memory, i, change)))
      walk_all(memory, i, header.r_map, change);
    space.last = everything && state == LoaderState::Adding ? LoaderState::Deleting : state;
  }
  return change;
}

Result<LinkMapChange> LinkMap::update(const Memory& memory) { return look(memory, false); }
Result<LinkMapChange> LinkMap::reread(const Memory& memory) { return look(memory, true); }

std::vector<LinkMapEntry> LinkMap::entries() const {
  std::vector<LinkMapEntry> out;
  for (const auto& space : spaces_) out.insert(out.end(), space.loaded.begin(), space.loaded.end());
  return out;
}

}  // namespace fade::elf
