// A recorded call as names and values: the words and the payload as the prototype declares them. Used to store and to
// show records. Reads nothing from the tracee.
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
  Direction direction = Direction::In;  // In: as at entry, Out: as at return; an inout parameter has both
  std::string text;  // as C would write it: 4096, "name", hipMemcpyHostToDevice, (256, 1, 1), {width=1, height=2}
  std::string json;  // the same as JSON
  bool cut = false;  // the text is longer than the limit
  bool unreadable = false;  // the memory behind the pointer could not be read
  bool overridden = false;  // an override changed the value; text and json have the old and the new one
};

// The values in the order of the parameters. `major` and `minor` are of the HIP library and choose the names of enum
// values; 0 is unknown. A probe without a known signature gives its six integer registers.
std::vector<Value> decode(const Probe& probe, const CallRecord& record, Payload payload, int major, int minor = -1);

// The same as one JSON object, without the result. Special forms:
//   {"cut":"text"}           a text that is longer than the limit
//   {"unreadable":"0x10"}    a pointer to memory that could not be read
//   {"at":"0x10"}            an out-parameter that was not read, or whose call failed or did not return
//   {"was":1,"became":2}     an out-parameter that an override changed
//   {"in":1,"out":2}         an inout parameter
std::string args_json(const Probe& probe, const CallRecord& record, Payload payload, int major, int minor = -1);
void append_args_json(std::string& out, const Probe& probe, const CallRecord& record, Payload payload, int major,
                      int minor = -1);

// The result as text: hipErrorOutOfMemory, 3, 0x7f..; empty for void.
std::string result_text(const Probe& probe, std::uint64_t result, int major, int minor = -1);
// The text that the result points to, in quotes: "hipErrorOutOfMemory"; empty if none was read.
std::string returned_text(Payload payload);

}  // namespace fade::probes
