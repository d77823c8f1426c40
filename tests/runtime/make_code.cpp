// Writes a bundle of code objects for gfx90a and gfx1030 to standard output, as clang makes it of a source file with
// these kernels: make_code plain|VERSION-METHOD KERNEL...    such as: make_code 2-zstd _Z5firstPfi
#include <cstdio>
#include <cstdlib>

#include "unit/elf/code_bytes.hpp"

namespace {

using namespace fade::elf::test;

// Each kernel has one register more than the one before it, and twice as many on gfx90a.
std::string object(std::span<char*> kernels, unsigned times) {
  std::vector<std::string> described;
  for (const char* name : kernels)
    described.push_back(kernel(name, (24 + static_cast<unsigned>(described.size())) * times, times == 1));
  std::string code(100'000, '\0');  // that cannot be made much smaller
  std::uint64_t state = times;
  for (char& c : code) c = static_cast<char>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
  return elf_with(metadata(described)) + code;
}

std::string in_form(std::string_view form, const std::string& content) {
  if (form == "plain") return content;
  return packed(static_cast<std::uint16_t>(form[0] - '0'), form.ends_with("zlib") ? Method::Zlib : Method::Zstd,
                content);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto kernels = std::span(argv, static_cast<std::size_t>(argc)).subspan(2);
  const std::string out = in_form(argv[1], bundle({{"host-x86_64-unknown-linux--", ""},
                                                   {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", object(kernels, 2)},
                                                   {"hipv4-amdgcn-amd-amdhsa--gfx1030", object(kernels, 1)}}));
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? EXIT_SUCCESS : EXIT_FAILURE;
}
