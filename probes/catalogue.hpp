// All probes that a session may set: the built-in probes, the user's files, and probes added during the run. A probe
// never changes, so reading one through its ProbePtr needs no lock. The catalogue may be read and extended from any
// thread. It knows no processes and no addresses.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "probes/probe.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// The facts about a library when it is mapped.
struct Library {
  std::string role;  // hip, hiprtc, zluda, cuda, nvml, ... as recognised; empty if unknown
  std::string path;  // path, or only the file name
  std::string soname;
};

bool applies(const Probe& probe, const Library& library);

class Catalogue {
 public:
  Catalogue();  // with the built-in probes
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // Adds a user's file. A file with errors adds nothing; the Error lists them as FILE:LINE:COLUMN.
  Result<void> add_file(const std::string& path);
  Result<void> add_text(std::string_view text, std::string_view name);
  // Replaces an earlier probe of the same symbol, api and library.
  ProbePtr add(Probe probe);

  std::vector<ProbePtr> all() const;                               // in the order they were added
  std::vector<ProbePtr> by_symbol(std::string_view symbol) const;  // the last added first
  // One probe for each symbol to look for in this library: the last added that applies.
  std::vector<ProbePtr> for_library(const Library& library) const;
  std::shared_ptr<const Types> types() const;  // types of the last file, over the earlier files

 private:
  void insert(ProbePtr probe);  // the caller holds the mutex

  mutable std::mutex mutex_;  // guards everything below
  std::vector<ProbePtr> probes_;
  std::shared_ptr<const Types> types_;
};

}  // namespace fade::probes
