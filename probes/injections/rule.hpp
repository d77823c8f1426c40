// A rule of --inject or --replace: the calls that it is for, and its effect on them. Passive.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

// A part of a call's arguments, or its result.
struct ValuePlace {
  static constexpr std::uint8_t kResult = kResultParam;

  std::uint8_t parameter = 0;  // index into Probe::parameters
  int part = -1;               // x, y or z of a dim3: 0, 1, 2
  Type type;                   // of the value at that place
  bool operator==(const ValuePlace& other) const { return parameter == other.parameter && part == other.part; }
};

// A condition on an argument: size>1M, kind=hipMemcpyHostToDevice.
struct ArgumentTest {
  enum class Op : std::uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
  ValuePlace place;
  Op op = Op::Equal;
  std::uint64_t value = 0;  // as the argument's type has it, sign-extended

  bool holds(std::uint64_t argument) const;
};

// Which of the calls that match: `first`, and from there each `step`-th up to `last`.
struct Turns {
  std::uint64_t first = 1, step = 1, last = std::numeric_limits<std::uint64_t>::max();  // step 0: only the first
  // `n`: the number of the call, from 1.
  bool has(std::uint64_t n) const;
};

// Conditions on a call besides its arguments. Empty: any.
struct CallFilter {
  std::optional<int> device;
  std::string caller;         // pattern of the file name of the library that called
  std::string thread;         // pattern of the thread's name, or its tid
  std::string rank;           // of the process in a distributed job
  std::string kernel;         // pattern of the name of the kernel that is launched
  std::int64_t after_ns = 0;  // session time
};

struct Injection {
  RuleId id = 0;             // from 1, in the order given
  std::string spec, origin;  // as the user wrote it, and where: --inject or FILE:LINE
  std::string function;      // name or pattern
  std::string action;        // error=hipErrorOutOfMemory, delay=5ms
  CallFilter filter;
  Turns turns;
  std::optional<double> chance;  // of each call that has its turn
  std::string error;             // empty: none
  bool is_late = false;          // the call is made, and then its result is replaced
  bool is_sticky = false;        // later calls of the process fail, too
  std::int64_t delay_ns = 0, delay_exit_ns = 0;
  std::optional<std::uint32_t> hidden_device;  // of hide-device=: the program is started without it
};

// A value that replaces an argument or the result.
struct Replacement {
  ValuePlace place;
  std::uint64_t value = 0;
  std::string name;  // size, numBlocks.x, result
  std::string text;  // as it is shown
};

// A rule for one function.
struct Aim {
  RuleId rule = 0;
  std::optional<std::int64_t> error;
  std::string error_name;
  std::vector<ArgumentTest> tests;
  std::vector<Replacement> replacements;
  // Of presets: the device has no more memory, and HIP no more devices. The call gives memory back.
  std::optional<std::uint64_t> most_bytes, most_devices;
  bool releases = false;
};

}  // namespace fade::probes
