// Reads the topology that the KFD driver shows in sysfs (class/kfd/kfd/topology), and the PCI revision of each GPU. The
// place of /sys is a parameter: tests and containers bring their own. Nothing in it is trusted: files may be missing,
// empty, huge, of another kind, or nonsense. Reading never fails; unreadable parts are reported.
#pragma once
#include <string>

#include "base/kfd.hpp"

namespace fade {

class KfdReader {
 public:
  explicit KfdReader(std::string sysfs_root) : root_(std::move(sysfs_root)) {}
  KfdTopology read() const;

 private:
  KfdNode node(int number) const;
  void add_memory(KfdNode& node) const;
  std::optional<std::uint64_t> pci_revision(const std::string& pci) const;
  std::string nodes_folder() const { return root_ + "/class/kfd/kfd/topology/nodes"; }
  std::string node_folder(int number) const { return nodes_folder() + "/" + std::to_string(number); }

  std::string root_;
};

// 100300 is gfx1030, 90010 is gfx90a: minor and step are one hexadecimal digit each. Empty for 0 and for nonsense.
std::string gfx_name(std::uint64_t gfx_target_version);
// 0x0a00 of domain 0 is 0000:0a:00.0.
std::string pci_address(std::uint64_t domain, std::uint64_t location_id);

}  // namespace fade
