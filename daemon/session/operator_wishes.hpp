// The operators of PyTorch that a user wants to watch (probes/operators.hpp). Their functions are found in the
// library's own symbols, and their names in its constants. Tracing thread only.
#pragma once
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "elf/dynamic_image.hpp"
#include "probes/operators.hpp"
#include "probes/selection.hpp"

namespace fade {

class OperatorWishes {
 public:
  // `families`: those of which the selection takes some functions.
  // `shapes`: those of the tensors that they take, too. Then the function that tells the layout of tensors is always
  // wanted.
  OperatorWishes(std::vector<probes::ProbePtr> families, probes::Selection selection, bool shapes)
      : families_(std::move(families)), selection_(std::move(selection)), shapes_(shapes), names_(shapes) {}

  const std::vector<probes::ProbePtr>& families() const { return families_; }
  // Learns the names of the operators, once for each library. `library`: the path.
  void read_names(const elf::DynamicImage& image, const Memory& memory, const std::string& library);
  // The probe of a function with that symbol; null: it is not wanted.
  probes::ProbePtr probe_for(const std::string& symbol);

 private:
  probes::ProbePtr make(const std::string& symbol) const;

  std::vector<probes::ProbePtr> families_;
  probes::Selection selection_;
  bool shapes_;
  probes::OperatorNames names_;
  std::set<std::string> read_;                               // libraries
  std::unordered_map<std::string, probes::ProbePtr> known_;  // by symbol
};

}  // namespace fade
