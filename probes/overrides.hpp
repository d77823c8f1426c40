// The user's --set rules: what programs are told about devices instead of the truth. Immutable once parsed; asked at
// the return of a call for what must be written. Pure: reads and writes no program's memory, knows no call's past.
//
// A rule sets a fact, and with it every answer that tells the fact: both forms of hipDeviceProp_t, the attribute of
// the same meaning, hipDeviceGetName, hipDeviceTotalMem, hipMemGetInfo, hipDeviceComputeCapability,
// hipDeviceGetPCIBusId, hipDeviceGetUuid, and the functions of CUDA's driver API that tell it. Only attribute.NAME sets one answer alone.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "base/result.hpp"
#include "probes/overrides_callers.hpp"
#include "probes/overrides_patch.hpp"
#include "probes/overrides_spec.hpp"

namespace fade::probes {

struct Rule {
  RuleId id = 0;       // from 1, in the order given
  std::string spec;    // as the user wrote it
  std::string target;  // device.0.multiProcessorCount, aliases resolved
  std::string value;   // 72
  std::string origin;  // "--set" or FILE:LINE
  int device = -1;     // ordinal of HIP, -1: all
  std::optional<PciSlot> slot;  // only a device there
  Callers callers;
  std::vector<PciSlot> among = {};  // as in RuleText
};

// A call that returned success.
struct DeviceCall {
  std::string_view symbol;
  Arguments arguments;
  int current_device = -1;    // of the thread, -1 where unknown: then only rules for all devices count
  const std::string& caller;  // file name of the library it returns to, without folder; empty for none
  std::optional<PciSlot> slot = {};  // of the device, as far as an answer told it before (slot_told)
};

class Overrides {
 public:
  static Result<Overrides> parse(std::span<const RuleText> rules);

  bool empty() const { return rules_.empty(); }
  std::span<const Rule> rules() const { return rules_; }
  // What the user should hear though nothing is wrong: rules that hide others.
  std::span<const std::string> notes() const { return notes_; }
  // Several lines for --dry-run: target and value, callers, functions through which it is told, remarks.
  std::string describe(const Rule& rule) const;

  // Whether some rule is about what this function tells. Where it is not, there is nothing else to ask.
  bool touches(std::string_view symbol) const;
  // Whether rules count by PCI address, so that answers which tell it must be looked at.
  bool need_slots() const { return need_slots_; }
  // The device that the call is about, and where that is, from what the runtime wrote; nullopt: this call does not tell.
  static std::optional<std::pair<int, PciSlot>> slot_told(const DeviceCall& call, std::span<const Found> found);
  // The ordinal that the call is about, -1 where unknown.
  static int device_of(const DeviceCall& call);
  // The first rule that would count for this call if its device's address were known, nullptr: none.
  const Rule* unplaced(const DeviceCall& call) const;
  // The first rule that would count for this call if its device were one that the rule is for, nullptr: none.
  const Rule* elsewhere(const DeviceCall& call) const;
  // The first rule that would count for this call if another library had made it, nullptr: none.
  const Rule* for_other_callers(const DeviceCall& call) const;
  // Whether a rule counts for this call. Allocates nothing.
  bool applies(const DeviceCall& call) const;
  // What patches() needs to see of the memory behind the call's pointers. Entries of 0 bytes are unused.
  std::array<Written, 2> reads(std::string_view symbol, Arguments arguments) const;
  // To be written in this order. Allocates nothing where no rule counts for the call.
  std::vector<Patch> patches(const DeviceCall& call, std::span<const Found> found) const;

 private:
  void note_hidden_rules(const Rule& rule, std::span<const Assignment> assignments);
  void note_odd_width(const Rule& rule, std::span<const Assignment> assignments);
  static bool counts(const Rule& rule, int device, const std::string& caller);
  // Whether the rule is about the device at `slot`. An unknown address fits no rule that names one.
  static bool is_there(const Rule& rule, int device, const std::optional<PciSlot>& slot);
  template <class Fits>
  const Rule* first_rule(const DeviceCall& call, Fits fits) const;
  // The ordinal that the call is about, -1 where unknown.
  static int device_of(const DevicePath& path, const DeviceCall& call);

  std::vector<Rule> rules_;              // rule with id N is rules_[N - 1]
  std::vector<Assignment> assignments_;  // in the order of the rules, one or more for each
  std::vector<std::string> notes_;
  bool need_slots_ = false;
};

}  // namespace fade::probes
