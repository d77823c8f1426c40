// What naming frames costs: distinct addresses in the code of one file are named as at the end of a recording.
// Prints seconds, names found and memory.  symbols_bench FILE [FRAMES]; without FILE, or where it is not there, says
// so.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <unistd.h>
#include <cstdlib>
#include <random>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/demangle.hpp"
#include "elf/elf_file.hpp"
#include "symbols/file_names.hpp"

namespace {

using namespace fade;

double seconds() { return static_cast<double>(clock_ns(CLOCK_MONOTONIC)) / 1e9; }
double cpu_seconds() { return static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) / 1e9; }
long peak_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Spread over all code, always the same ones.
std::set<std::uint64_t> addresses(const std::string& path, std::size_t count) {
  std::set<std::uint64_t> out;
  const auto file = elf::ElfFile::open(path);
  const elf::Section* text = file ? file->section(".text") : nullptr;
  if (!text || text->size < count * 16) return out;
  std::mt19937_64 random(42);
  while (out.size() < count) out.insert(text->address + random() % text->size);
  return out;
}

int run(const std::string& path, std::size_t count) {
  const auto wanted = addresses(path, count);
  if (wanted.empty()) {
    fmt::print("symbols_bench: {} has not enough code\n", path);
    return 1;
  }
  const double begun = seconds(), cpu = cpu_seconds();
  auto names = symbols::FileNames::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path, elf::kDebugRoot);
  if (!names) {
    fmt::print("symbols_bench: {}\n", names.error().text());
    return 1;
  }
  const double read = seconds();
  std::size_t named = 0, lines = 0, inlined = 0, bytes = 0;
  for (const std::uint64_t address : wanted) {
    const auto places = names->at(address);
    if (places.empty()) continue;
    ++named;
    lines += places.back().line != 0;
    inlined += places.size() - 1;
    for (const auto& place : places) bytes += demangled(place.function).value_or(place.function).size();
  }
  struct stat info {};
  ::stat(path.c_str(), &info);
  fmt::print(
      "file: {:.0f} MB\nframes: {}\nnamed: {}\nwith line: {}\ninlined: {}\nseconds: {:.3f}\nof them to read the file: "
      "{:.3f}\nCPU seconds: {:.3f}\npeak memory: {} MB\nbytes of names: {}\n",
      static_cast<double>(info.st_size) / 1e6, wanted.size(), named, lines, inlined, seconds() - begun, read - begun,
      cpu_seconds() - cpu, peak_mb(), bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("symbols_bench: skipped, no file was given (Debian's libtorch_cpu.so is the one to compare with)\n");
    return 0;
  }
  const std::string path = argv[1];
  if (::access(path.c_str(), R_OK) != 0) {
    fmt::print("symbols_bench: skipped, {} cannot be read\n", path);
    return 0;
  }
  return run(path, argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10'000);
}
