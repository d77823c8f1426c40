// The user's --set rules: false facts about devices for programs. Immutable once parsed. At the return of a call,
// patches() gives the bytes to write. Pure: this class accesses no program's memory and does not know earlier calls.
//
// A rule sets a fact, and with it every answer that contains the fact: both forms of hipDeviceProp_t, the attribute of
// the same meaning, hipDeviceGetName, hipDeviceTotalMem, hipMemGetInfo, hipDeviceComputeCapability,
// hipDeviceGetPCIBusId, hipDeviceGetUuid, and CUDA's driver functions with the same fact. Only attribute.NAME sets one
// answer alone.
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
#include "probes/overrides/callers.hpp"
#include "probes/overrides/patch.hpp"
#include "probes/overrides/spec.hpp"

namespace fade::probes {

struct Rule {
  RuleId id = 0;                // from 1, in the order given
  std::string spec;             // as the user wrote it
  std::string target;           // device.0.multiProcessorCount, aliases resolved
  std::string value;            // 72
  std::string origin;           // "--set" or FILE:LINE
  int device = -1;              // ordinal of HIP, -1: all
  std::optional<PciSlot> slot;  // limits the rule to a device at this address
  Callers callers;
  std::vector<PciSlot> among = {};  // as in RuleText
};

// A call that returned success.
struct DeviceCall {
  std::string_view symbol;
  Arguments arguments;
  int current_device = -1;           // of the thread; -1, unknown: only rules for all devices apply
  const std::string& caller;         // file name of the library it returns to, without folder; empty if none
  std::optional<PciSlot> slot = {};  // of the device, if an earlier answer contained it (slot_told)
};

class Overrides {
 public:
  static Result<Overrides> parse(std::span<const RuleText> rules);

  bool empty() const { return rules_.empty(); }
  std::span<const Rule> rules() const { return rules_; }
  // Remarks for the user about rules that hide other rules.
  std::span<const std::string> notes() const { return notes_; }
  // Several lines for --dry-run: target and value, callers, functions that give the answer, remarks.
  std::string describe(const Rule& rule) const;

  // True if a rule sets an answer of this function. If false, the call needs no other check.
  bool touches(std::string_view symbol) const;
  // True if rules depend on PCI addresses, so that answers with an address must be read.
  bool need_slots() const { return need_slots_; }
  // The device of the call and its PCI address, from the runtime's answer; nullopt if the answer has no address.
  static std::optional<std::pair<int, PciSlot>> slot_told(const DeviceCall& call, std::span<const Found> found);
  // The device ordinal of the call, -1 if unknown.
  static int device_of(const DeviceCall& call);
  // The first rule that would apply to this call if its device's address were known; nullptr: none.
  const Rule* unplaced(const DeviceCall& call) const;
  // The first rule that would apply to this call if its device matched the rule; nullptr: none.
  const Rule* elsewhere(const DeviceCall& call) const;
  // The first rule that would apply to this call if another library had made it; nullptr: none.
  const Rule* for_other_callers(const DeviceCall& call) const;
  // True if a rule applies to this call. Allocates nothing.
  bool applies(const DeviceCall& call) const;
  // The memory behind the call's pointers that patches() needs. Entries of 0 bytes are unused.
  std::array<Written, 2> reads(std::string_view symbol, Arguments arguments) const;
  // The patches, in the order in which they must be written. Allocates nothing if no rule applies to the call.
  std::vector<Patch> patches(const DeviceCall& call, std::span<const Found> found) const;

 private:
  void note_hidden_rules(const Rule& rule, std::span<const Assignment> assignments);
  void note_odd_width(const Rule& rule, std::span<const Assignment> assignments);
  static bool counts(const Rule& rule, int device, const std::string& caller);
  // True if the rule is about the device at `slot`. A rule with an address never matches an unknown address.
  static bool is_there(const Rule& rule, int device, const std::optional<PciSlot>& slot);
  const Rule& rule_of(RuleId id) const { return rules_[id.value() - 1]; }
  template <class Fits>
  const Rule* first_rule(const DeviceCall& call, Fits fits) const;
  // The device ordinal of the call, -1 if unknown.
  static int device_of(const DevicePath& path, const DeviceCall& call);

  std::vector<Rule> rules_;              // rule with id N is rules_[N - 1]
  std::vector<Assignment> assignments_;  // in the order of the rules, one or more for each
  std::vector<std::string> notes_;
  bool need_slots_ = false;
};

}  // namespace fade::probes
