// What the tests of this folder share: memory of this process, a byte array as memory, libraries compiled on the spot.
#pragma once
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/remote.hpp"

namespace fade::elf::test {

// This process read through the kernel, so that bad addresses fail instead of crashing.
class OwnMemory final : public Memory {
 public:
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    ++reads;
    const ssize_t got = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(from.value));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  mutable std::size_t reads = 0;

 private:
  Fd fd_{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
};

// Bytes that stand at `base`; nothing else is readable.
class BytesMemory final : public Memory {
 public:
  BytesMemory(std::vector<std::byte> bytes, std::uint64_t base) : bytes_(std::move(bytes)), base_(base) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    if (from.value < base_ || from.value - base_ >= bytes_.size()) return 0;
    const std::size_t at = from.value - base_;
    const std::size_t n = std::min(into.size(), bytes_.size() - at);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), n, into.begin());
    return n;
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  std::uint64_t base() const { return base_; }
  template <class T>
  void put(std::uint64_t address, T value) {
    std::memcpy(bytes_.data() + (address - base_), &value, sizeof value);
  }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t base_;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fade-elf-XXXXXX").string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Compiles `source` ("name.c", "name.cpp" or "name.S" decides the language) into folder/output. False: no compiler.
inline bool compile(const TemporaryFolder& folder, const std::string& name, const std::string& source,
                    const std::string& output, const std::string& flags) {
  std::ofstream(folder / name) << source;
  const char* compiler = std::getenv("CXX") ? std::getenv("CXX") : "c++";
  const std::string language = name.ends_with(".c") ? "-x c " : "";
  const std::string command =
      fmt::format("{} {} {}{} -o {}", compiler, flags, language, folder / name, folder / output);
  return std::system(command.c_str()) == 0;
}

// As at exec, before the loader has touched anything: segments laid out by hand, dynamic section as in the file.
inline BytesMemory laid_out(const std::string& path, std::uint64_t base) {
  std::ifstream in(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), {});
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<std::byte> bytes;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr h;
    std::memcpy(&h, file.data() + header.e_phoff + i * sizeof h, sizeof h);
    if (h.p_type != PT_LOAD) continue;
    bytes.resize(std::max<std::size_t>(bytes.size(), h.p_vaddr + h.p_memsz));
    std::memcpy(bytes.data() + h.p_vaddr, file.data() + h.p_offset, h.p_filesz);
  }
  return BytesMemory(std::move(bytes), base);
}

inline Fd open_file(const std::string& path) { return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

}  // namespace fade::elf::test
