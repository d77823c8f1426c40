// All probes that a session may set: the built-in ones, the user's files, and what is added while it runs. Probes
// themselves never change; whoever holds a ProbePtr needs no lock. The catalogue may be asked and added to from any
// thread. Knows nothing of processes or addresses.
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

// What is known of a library when it is mapped.
struct Library {
  std::string role;    // hip, hiprtc, zluda, cuda, nvml, ... as recognised; empty where not
  std::string path;    // or only the file name
  std::string soname;
};

bool applies(const Probe& probe, const Library& library);

class Catalogue {
 public:
  Catalogue();  // with the built-in probes
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // A user's file. Nothing of it is taken where it has errors; the Error lists them as FILE:LINE:COLUMN.
  Result<void> add_file(const std::string& path);
  Result<void> add_text(std::string_view text, std::string_view name);
  // Takes the place of an earlier probe of the same symbol, api and library.
  ProbePtr add(Probe probe);

  std::vector<ProbePtr> all() const;  // in the order they were added
  std::vector<ProbePtr> by_symbol(std::string_view symbol) const;  // the last added first
  // One probe for each symbol to look for in this library: the last added that applies.
  std::vector<ProbePtr> for_library(const Library& library) const;
  std::shared_ptr<const Types> types() const;  // of the last file, over those before it

 private:
  void insert(ProbePtr probe);  // under the mutex

  mutable std::mutex mutex_;  // guards everything below
  std::vector<ProbePtr> probes_;
  std::shared_ptr<const Types> types_;
};

}  // namespace fade::probes
