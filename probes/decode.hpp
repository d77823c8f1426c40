// A recorded call as names and values: what its prototype says the words and the payload mean. Used where records are
// stored and shown; asks the tracee nothing.
#pragma once
#include <string>
#include <vector>

#include "base/event.hpp"
#include "probes/arguments.hpp"
#include "probes/call_facts.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

struct Value {
  std::string name;
  Direction direction = Direction::In;  // In: as it was at entry, Out: as it was at return; an inout parameter has both
  std::string text;   // as C would write it: 4096, "name", hipMemcpyHostToDevice, (256, 1, 1), {width=1, height=2}
  std::string json;   // the same as JSON
  bool cut = false;         // text that goes on after the limit
  bool unreadable = false;  // the pointer led nowhere
  bool overridden = false;  // an override changed it; text and json say what it was and became
};

// In the order of the parameters. `major` and `minor` are of the HIP library and choose the names of enum values;
// 0 is unknown. A probe without a known signature gives its six integer registers.
std::vector<Value> decode(const Probe& probe, const CallRecord& record, Payload payload, int major, int minor = -1);

// The same as one JSON object, without the result. Special forms:
//   {"cut":"text"}           text that goes on after the limit
//   {"unreadable":"0x10"}    a pointer that led nowhere
//   {"at":"0x10"}            an out-parameter of a call that failed or did not return, or whose value was not read
//   {"was":1,"became":2}     an out-parameter that an override changed
//   {"in":1,"out":2}         an inout parameter
std::string args_json(const Probe& probe, const CallRecord& record, Payload payload, int major, int minor = -1);
void append_args_json(std::string& out, const Probe& probe, const CallRecord& record, Payload payload, int major, int minor = -1);

// The result as text: hipErrorOutOfMemory, 3, 0x7f..; empty for void.
std::string result_text(const Probe& probe, std::uint64_t result, int major, int minor = -1);

}  // namespace fade::probes
