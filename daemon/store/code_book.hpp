// The code objects' description of the kernels that were used: registers, memory, mode. For modules that the program
// loaded from memory it comes with the loading call. For kernels in libraries it is read from the library's file, which
// the tracing side has opened. Only kernels that were used get rows. Memory is bounded.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/event.hpp"
#include "elf/code_image.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class CodeBook {
 public:
  struct Used {
    KernelRow kernel = 0;
    ProcessId process = 0;
    std::uint64_t module = 0;    // hipModule_t; 0: the kernel is in a library
    const std::string& name;     // mangled
    const std::string& library;  // path; empty: in none
  };

  CodeBook(sqlite::Db& db, Failure& failure);

  void on(const KernelNamed& kernel);
  void loaded(ProcessId process, std::uint64_t module, const std::vector<elf::CodeObject>& objects);
  void unload(ProcessId process, std::uint64_t module);
  void used(const Used& kernel);
  void end_process(ProcessId process) { modules_.erase(process); }
  void flush();   // small libraries
  void finish();  // and large ones

 private:
  struct Code {
    std::string arch, problem;
    elf::KernelCode kernel;
    bool operator==(const Code&) const = default;
  };
  using Codes =
      std::unordered_multimap<std::string, Code>;  // by kernel; without a name: objects that could not be read
  struct Library {
    std::shared_ptr<const Fd> file;
    std::uint64_t offset = 0, size = 0;  // of .hip_fatbin in the file
    bool is_small = false;               // to be read while the program runs
    std::map<std::string, KernelRow> wanted;
  };

  static void decode(const elf::CodeObject& object, const std::map<std::string, KernelRow>* wanted, Codes& out);
  void read(Library& library);
  void write(KernelRow kernel, const std::string& name, const Codes& codes);
  void write(KernelRow kernel, const Code& code);

  std::unordered_map<ProcessId, std::unordered_map<std::uint64_t, std::shared_ptr<const Codes>>> modules_;
  std::map<std::string, Library> libraries_;  // by path
  std::unordered_map<KernelRow, std::vector<Code>> written_;
  std::size_t rows_ = 0;
  Write code_;
};

}  // namespace fade::store
