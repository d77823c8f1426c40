// All probes that a session may set: the built-in probes and those of the user's files. A probe never changes, so
// several threads may read one through its ProbePtr. It knows no processes and no addresses.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "probes/probe.hpp"
#include "probes/types.hpp"

namespace fade::probes {

class Catalogue {
 public:
  Catalogue();  // with the built-in probes

  // Adds the catalogues of libraries above HIP, and the operators of PyTorch, that the words of -e ask for.
  void add_libraries(std::string_view events);
  // Adds a user's file: its probes replace those of the same symbol, api and library. A file with errors adds nothing;
  // the Error lists them as FILE:LINE:COLUMN.
  Result<void> add_file(const std::string& path);
  Result<void> add_text(std::string_view text, std::string_view name);

  const std::vector<ProbePtr>& all() const { return probes_; }  // in the order they were added

 private:
  void insert(ProbePtr probe);

  std::vector<ProbePtr> probes_;
  std::shared_ptr<const Types> types_;  // of the last file, over the earlier files
};

}  // namespace fade::probes
