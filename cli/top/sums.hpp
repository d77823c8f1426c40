// The content of a recording at one moment: sums since its session began. Passive data, read by Reader; rates are made
// from two of them by make_view().
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fade::cli::top {

struct ProcessSums {
  std::int64_t id = 0;  // of the recording, as `process` below
  std::int64_t pid = 0;
  std::string command;
  bool ended = false;
  std::int64_t calls = 0, errors = 0, launches = 0;
  std::int64_t waited_ns = 0;  // in calls that wait for the GPU, all threads together
  std::int64_t memory = 0;     // bytes of GPU memory that it holds now
  bool memory_before = false;  // it ran before fade came: it may hold more
};

// Of a function, kernel or line. process 0: of all processes together.
struct NamedSums {
  std::int64_t process = 0;
  std::string name;
  std::int64_t calls = 0, errors = 0, total_ns = 0;
  std::int64_t samples = 0;  // of a line: looks that found a thread there
};

struct Device {  // the last second of its sensors
  std::int64_t node = 0;
  std::string name;
  bool asleep = false;
  std::optional<double> busy, watts, celsius;  // percent, W, degrees
  std::optional<std::int64_t> memory, memory_total;
};

struct Failure {
  std::int64_t process = 0, pid = 0;
  std::string name, error, caller;
  std::int64_t repeats = 0;
  std::int64_t last_ns = 0;  // since the session began
};

struct Drop {
  std::string reason;
  std::int64_t n = 0;
};

struct Sums {
  std::int64_t at_ns = 0;     // when they were read, by a clock that only moves forward
  std::int64_t since_ns = 0;  // the session's age then
  bool clean = false;         // the recording was closed in order
  bool under_way = false;
  bool kernels_on_gpu = false;  // total_ns of kernels is the GPU's time, else that of the calls that launched them
  std::int64_t gpus = 0;        // that the driver has, with or without sensors
  bool without_hip = false;     // no process has loaded a HIP library
  std::vector<ProcessSums> processes;
  std::vector<NamedSums> functions, kernels, lines;
  std::vector<Device> devices;
  std::vector<Failure> failures;  // newest first
  std::vector<Drop> drops;
  std::string cost;  // of fade, in a sentence; empty: nothing yet
};

}  // namespace fade::cli::top
