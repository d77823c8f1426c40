// Images of code in a fat binary or in the data for hipModuleLoadData. An image is a code object, a bundle of several
// (__CLANG_OFFLOAD_BUNDLE__), or a compressed bundle. Only the descriptions of kernels are kept, never code. Nothing
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
  std::uint64_t unpacked = 0;    // bytes that all compressed images together may be unpacked to
};

// The code objects of the image at this address. Empty if no image begins there.
std::vector<CodeObject> read_code_objects(const Memory& memory, RemoteAddr image, const CodeLimits& limits);
bool is_packed(const Memory& memory, RemoteAddr image);

// Reads a section .hip_fatbin, which holds image after image, and calls visit for each object of each image. Asks
// is_enough before it unpacks another compressed image.
void each_code_object(const Memory& memory, RemoteRange section, const CodeLimits& limits,
                      const std::function<void(CodeObject)>& visit, const std::function<bool()>& is_enough);

// The part of an image that is stored with the call that loads it: metadata of at most 2 MB, or a compressed image
// itself of at most 16 MB. Never unpacks. Empty if no image begins there.
std::vector<std::byte> carry(const Memory& memory, RemoteAddr image);
// The code objects of carried bytes. Unpacks at most 512 MB.
std::vector<CodeObject> carried(std::span<const std::byte> bytes);

}  // namespace fade::elf
