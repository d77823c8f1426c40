// Kernels by handle and by name, geometries, and the distinct ways kernels are launched, each with one row. Memory is
// bounded: a full map is forgotten and later rows are written anew.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/event.hpp"
#include "base/regex.hpp"
#include "probes/call_facts.hpp"
#include "store/code_book.hpp"
#include "store/recent_map.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// Which launches are stored as rows. Names are matched demangled and as they are.
class KernelFilter {
 public:
  static Result<KernelFilter> make(const std::vector<std::string>& include, const std::vector<std::string>& exclude);
  bool wants(std::string_view mangled, std::string_view demangled) const;

 private:
  std::vector<Regex> include_, exclude_;
};

class KernelBook {
 public:
  struct Kernel {
    KernelRow row = 0;
    bool wanted = true;
  };

  KernelBook(sqlite::Db& db, Failure& failure, SessionRow session, KernelFilter filter, CodeBook& codes);

  // `module`: the hipModule_t that the handle was got from. An empty name: the former kernel there is gone.
  void name(ProcessId process, std::uint64_t handle, std::string_view name, std::string_view library,
            std::uint64_t module = 0);
  // The handle means the same kernel as `known`.
  void same(ProcessId process, std::uint64_t handle, std::uint64_t known);
  // Handles that were got from `module` no longer mean a kernel.
  void unload(ProcessId process, std::uint64_t module);
  // A handle without a name gets its number as name.
  const Kernel& kernel(ProcessId process, std::uint64_t handle, CallRow call);
  void end_process(ProcessId process);
  std::uint64_t renamed() const { return renamed_; }  // changes when a handle may mean another kernel

 private:
  struct Named {
    std::string name, library;
    std::uint64_t module = 0;
  };
  struct Handle {  // the row is made at the first launch
    Named named;
    Kernel kernel;
  };

  // Most launches are of a few kernels. A pointer to a handle is valid until the handle is forgotten.
  struct Recent {
    ProcessId process = 0;
    std::uint64_t handle = 0;
    const Kernel* kernel = nullptr;
  };
  static constexpr int kRecentBits = 8;
  Recent& recent(std::uint64_t handle) { return recent_[handle * 0x9E3779B97F4A7C15u >> (64 - kRecentBits)]; }

  Kernel row_of(const Named& named, CallRow call);
  void make_room(ProcessId process, std::size_t bytes);
  const Kernel& known(ProcessId process, std::uint64_t handle, CallRow call);

  const SessionRow session_;
  const KernelFilter filter_;
  CodeBook& codes_;
  std::unordered_map<ProcessId, std::unordered_map<std::uint64_t, Handle>> handles_;
  std::array<Recent, std::size_t{1} << kRecentBits> recent_{};
  std::unordered_map<ProcessId, std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>>
      of_modules_;                                   // handles of each module
  std::unordered_map<std::string, Kernel> by_name_;  // name, NUL, library
  std::size_t name_bytes_ = 0, by_name_bytes_ = 0;   // at most, of the names in handles_ and in by_name_
  std::uint64_t renamed_ = 0;
  KernelRow last_kernel_;
  Write kernel_;
};

}  // namespace fade::store
