// Images of code: what a fat binary, or the data given to hipModuleLoadData, consists of. An image is a code object, a bundle of several
// (__CLANG_OFFLOAD_BUNDLE__), or a compressed bundle. Of all of them only what describes the kernels is kept, never code. Nothing
// that is read is trusted.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/remote.hpp"
#include "elf/code_object.hpp"

namespace fade::elf {

struct CodeLimits {
  std::size_t objects = 64;
  std::size_t bytes = 2u << 20;  // of all metadata
  std::uint64_t unpacked = 0;    // bytes that compressed images may be unpacked to, all together
};

// Of the image that begins there. Empty: it is none.
std::vector<CodeObject> read_code_objects(const Memory& memory, RemoteAddr image, const CodeLimits& limits);
bool is_packed(const Memory& memory, RemoteAddr image);

// Of a section .hip_fatbin, which holds image behind image; calls visit for each object of each. Asks is_enough before
// it unpacks another compressed one.
void each_code_object(const Memory& memory, RemoteRange section, const CodeLimits& limits, const std::function<void(CodeObject)>& visit,
                      const std::function<bool()>& is_enough);

// What of the image that begins there travels with the call that loads it: metadata of at most 2 MB, or the image itself where it is
// compressed, at most 16 MB; never unpacks. Empty: it is none.
std::vector<std::byte> carry(const Memory& memory, RemoteAddr image);
// The code objects of what was carried; unpacks at most 512 MB.
std::vector<CodeObject> carried(std::span<const std::byte> bytes);

}  // namespace fade::elf
