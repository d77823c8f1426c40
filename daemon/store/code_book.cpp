#include "store/code_book.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>

#include "elf/elf_file.hpp"

namespace fade::store {
namespace {

constexpr std::size_t kMostModules = 10'000, kMostRows = 200'000, kMostLibraries = 1'000;
constexpr std::size_t kMostKernels = 100'000;  // of one module
constexpr std::uint64_t kSmall = 16u << 20,
                        kSmallPacked = 1u << 20;  // of a section that is read while the program runs
constexpr elf::CodeLimits kFileLimits{.objects = 100'000, .bytes = 512u << 20, .unpacked = 4ull << 30};

// A part of a file; addresses count from its begin.
class FilePart final : public Memory {
 public:
  FilePart(int fd, std::uint64_t offset, std::uint64_t size) : fd_(fd), offset_(offset), size_(size) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    if (from.value >= size_) return 0;
    const std::size_t wanted = std::min<std::uint64_t>(into.size(), size_ - from.value);
    const ssize_t got = ::pread(fd_, into.data(), wanted, static_cast<off_t>(offset_ + from.value));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

 private:
  int fd_;
  std::uint64_t offset_, size_;
};

std::string problem_of(const std::string& problem) {
  return problem.empty() ? "its code object does not name it" : problem;
}

}  // namespace

CodeBook::CodeBook(sqlite::Db& db, Failure& failure)
    : code_(db, failure, "INSERT INTO kernel_code_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)") {}

void CodeBook::on(const KernelNamed& kernel) {
  if (!kernel.file || !*kernel.file || libraries_.size() >= kMostLibraries || libraries_.contains(kernel.library))
    return;
  const auto file = elf::ElfFile::open(Fd(::fcntl(kernel.file->get(), F_DUPFD_CLOEXEC, 3)), kernel.library);
  const elf::Section* section = file ? file->section(".hip_fatbin") : nullptr;
  GElf_Shdr header;
  Elf_Scn* scn = section ? ::elf_getscn(file->handle(), section->index) : nullptr;
  if (!scn || !::gelf_getshdr(scn, &header)) return;
  const FilePart code(kernel.file->get(), header.sh_offset, header.sh_size);
  const bool is_small = header.sh_size <= (elf::is_packed(code, {0}) ? kSmallPacked : kSmall);
  libraries_[kernel.library] = {kernel.file, header.sh_offset, header.sh_size, is_small, {}};
}

void CodeBook::decode(const elf::CodeObject& object, const std::map<std::string, KernelRow>* wanted, Codes& out) {
  if (!object.problem.empty()) {
    if (out.count({}) < 100) out.emplace(std::string(), Code{object.arch, object.problem, {}});
    return;
  }
  elf::CodeMetadata metadata = elf::describe(object);
  for (elf::KernelCode& kernel : metadata.kernels) {
    if (out.size() >= kMostKernels || (wanted && !wanted->contains(kernel.name))) continue;
    const std::string name = kernel.name;
    out.emplace(name, Code{metadata.arch, {}, std::move(kernel)});
  }
}

void CodeBook::loaded(ProcessId process, std::uint64_t module, const std::vector<elf::CodeObject>& objects) {
  auto& modules = modules_[process];
  if (modules.size() >= kMostModules) modules.clear();
  auto codes = std::make_shared<Codes>();
  for (const elf::CodeObject& object : objects) decode(object, nullptr, *codes);
  modules[module] = std::move(codes);
}

void CodeBook::unload(ProcessId process, std::uint64_t module) {
  if (const auto it = modules_.find(process); it != modules_.end()) it->second.erase(module);
}

void CodeBook::used(const Used& kernel) {
  if (kernel.module == 0) {
    const auto library = libraries_.find(kernel.library);
    if (library != libraries_.end() && library->second.wanted.size() < kMostKernels)
      library->second.wanted.emplace(kernel.name, kernel.kernel);
    return;
  }
  const auto process = modules_.find(kernel.process);
  if (process == modules_.end()) return;
  const auto module = process->second.find(kernel.module);
  if (module != process->second.end()) write(kernel.kernel, kernel.name, *module->second);
}

void CodeBook::write(KernelRow kernel, const std::string& name, const Codes& codes) {
  const auto [begin, end] = codes.equal_range(name);
  for (auto it = begin; it != end; ++it) write(kernel, it->second);
  if (begin != end) return;
  const auto [first, last] = codes.equal_range({});  // it must be in one of those that could not be read
  for (auto it = first; it != last; ++it) write(kernel, it->second);
  if (first == last) write(kernel, Code{{}, problem_of({}), {}});
}

void CodeBook::write(KernelRow kernel, const Code& code) {
  std::vector<Code>& known = written_[kernel];
  if (rows_ >= kMostRows || std::ranges::find(known, code) != known.end()) return;
  known.push_back(code);
  ++rows_;
  const elf::KernelCode& k = code.kernel;
  code_(kernel, unless_empty(code.arch), k.vgprs, k.agprs, k.sgprs, k.vgpr_spills, k.sgpr_spills, k.lds, k.scratch,
        k.kernarg, k.wave_size, k.max_threads, k.wgp_mode, k.dynamic_stack, unless_empty(code.problem));
}

void CodeBook::read(Library& library) {
  Codes codes;
  const FilePart memory(library.file->get(), library.offset, library.size);
  const auto decode_one = [&](const elf::CodeObject& object) { decode(object, &library.wanted, codes); };
  const auto has_all = [&] {
    return std::ranges::all_of(library.wanted, [&](const auto& one) { return codes.contains(one.first); });
  };
  elf::each_code_object(memory, {{0}, {library.size}}, kFileLimits, decode_one, has_all);
  for (const auto& [name, kernel] : library.wanted) write(kernel, name, codes);
  library.wanted.clear();
}

void CodeBook::flush() {
  for (auto& [path, library] : libraries_)
    if (!library.wanted.empty() && library.is_small) read(library);
}

void CodeBook::finish() {
  for (auto& [path, library] : libraries_)
    if (!library.wanted.empty()) read(library);
}

}  // namespace fade::store
