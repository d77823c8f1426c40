// Memory made by hand, for the tests of what reads CPython's objects.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/remote.hpp"
#include "stack/python_layout.hpp"

namespace fade::test {

// Blocks at addresses of the test's choice; a read may not run over the end of one.
class Blocks : public Memory {
 public:
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    ++reads;
    auto block = blocks_.upper_bound(from.value);
    if (block == blocks_.begin()) return 0;
    --block;
    const std::uint64_t skip = from.value - block->first;
    if (skip >= block->second.size()) return 0;
    const std::size_t n = std::min<std::size_t>(into.size(), block->second.size() - skip);
    std::copy_n(block->second.begin() + static_cast<std::ptrdiff_t>(skip), n, into.begin());
    return n;
  }
  void block(std::uint64_t at, std::size_t size) { blocks_[at].assign(size, std::byte{0}); }
  void drop(std::uint64_t at) { blocks_.erase(at); }
  template <class T>
  void put(std::uint64_t at, T value) {
    auto block = std::prev(blocks_.upper_bound(at));
    std::memcpy(block->second.data() + (at - block->first), &value, sizeof value);
  }
  void put_bytes(std::uint64_t at, const void* bytes, std::size_t size) {
    auto block = std::prev(blocks_.upper_bound(at));
    std::memcpy(block->second.data() + (at - block->first), bytes, size);
  }

  // A compact str of code points of `width` bytes each; `data` are these bytes. 0 as width: ASCII.
  void text(std::uint64_t at, const PythonLayout& layout, std::size_t width, const void* data, std::size_t length) {
    const std::size_t unit = width == 0 ? 1 : width;
    block(at, layout.compact_text + length * unit + 8);
    put<std::uint64_t>(at + layout.text_length, length);
    put<std::uint32_t>(at + layout.text_state,
                       static_cast<std::uint32_t>(unit << 2 | 1u << 5 | (width == 0 ? 1u << 6 : 0u)));
    put_bytes(at + (width == 0 ? layout.ascii_text : layout.compact_text), data, length * unit);
  }
  void ascii(std::uint64_t at, const PythonLayout& layout, const std::string& text_) {
    text(at, layout, 0, text_.data(), text_.size());
  }

  // As StackSnapshot::Look.
  const std::byte* at(RemoteAddr from, std::size_t n) const {
    auto block = blocks_.upper_bound(from.value);
    if (block == blocks_.begin()) return nullptr;
    --block;
    const std::uint64_t skip = from.value - block->first;
    return skip + n > block->second.size() ? nullptr : block->second.data() + skip;
  }
  // Each byte of them all, to be changed: change(byte).
  template <class Change>
  void each_byte(Change&& change) {
    for (auto& [at, bytes] : blocks_)
      for (std::byte& byte : bytes) change(byte);
  }

  mutable std::size_t reads = 0;

 private:
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
};

inline std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

// Layouts as small as they can be, one of each way to tell where the evaluation loop begins.
inline PythonLayout small_layout(PythonLayout::Entry entry) {
  PythonLayout out;
  out.minor = 12;
  out.interpreters = 8;
  out.interpreter_next = 0;
  out.threads = 8;
  out.thread_next = 0;
  out.thread_id = 8;
  out.thread_frame = 16;
  out.chunk = 24;
  out.frame_code = 0;
  out.frame_previous = 8;
  out.frame_instruction = 16;
  out.frame_owner = 24;
  if (entry == PythonLayout::Entry::Flag) out.frame_is_entry = 25;
  out.file = 0;
  out.name = 8;
  out.qualified_name = 16;
  out.line_table = 24;
  out.first_line = 32;
  out.bytecode = 48;
  out.ascii_text = 40;
  out.compact_text = 56;
  out.entry = entry;
  return out;
}

}  // namespace fade::test
