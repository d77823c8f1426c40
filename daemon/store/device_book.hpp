// Devices by the numbers of each process, and the runtime's answers about them: a row for each change of a value.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "store/device_facts.hpp"
#include "store/memory_ledger.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class DeviceBook {
 public:
  struct Told {
    ProcessRow process = 0;
    FunctionRow function = 0;
    CallRow call = 0;
    int ordinal = 0;
    std::int64_t at = 0;
  };

  DeviceBook(sqlite::Db& db, Failure& failure);

  DeviceRow row(ProcessRow process, int ordinal);
  DeviceRow find(ProcessRow process, int ordinal) const;  // 0: has no row yet
  void told(const Told& told, const CallView& call);
  // "device 0 (AMD Radeon RX 6800 XT)", with the process where several have been seen.
  std::string label(DeviceRow row, const std::string& process) const;
  ProcessRow process_of(DeviceRow row) const;
  void end_process(ProcessRow process);

 private:
  struct Device {
    ProcessRow process = 0;
    int ordinal = 0;
    std::string name;
    std::map<std::string, std::string, std::less<>> facts;  // the runtime's last answers
  };
  struct Value {
    std::string text;
    unsigned rows = 0;
  };

  using Asked = std::pair<ProcessRow, int>;  // process, ordinal
  DeviceRow known(const Asked& asked);
  void store(DeviceRow row, const DeviceFact& fact, const std::string& source, const Told& told);
  void describe(DeviceRow row, Device& device);

  std::map<Asked, DeviceRow> rows_;
  Asked last_asked_;  // most questions are about the device of the one before
  DeviceRow last_answer_ = 0;
  std::unordered_map<DeviceRow, Device> devices_;
  std::map<DeviceRow, std::unordered_map<std::string, Value>> values_;  // by name and source
  std::map<DeviceRow, std::unordered_map<std::uint64_t, std::uint64_t>>
      answers_;  // by question: most calls repeat the last answer
  DeviceRow last_;
  DevicePropRow last_prop_;
  Write device_, describe_, prop_;
};

}  // namespace fade::store
