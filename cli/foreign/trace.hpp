// Recordings of other profilers: calls of the host, work of GPUs, operators. The reader of a format gives them to a
// Sink one by one. Nothing in such a file is trusted. Knows no recordings.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fade::foreign {

// Times are nanoseconds; Origin says what to add, and by which clock they are.
struct HostCall {
  std::int64_t pid = 0, tid = 0, start = 0, end = 0;
  std::int64_t correlation = 0;  // 0: none
  std::string_view name;
};

enum class WorkKind : std::uint8_t { Kernel, Copy, Fill };  // the numbers of gpu_work_

struct Work {
  std::int64_t pid = 0, tid = 0;  // 0: not known
  std::int64_t correlation = 0;   // of the call that put it to run
  WorkKind kind{};
  bool is_kernel = false;  // a kernel did it, which may copy or fill
  std::string_view name, mangled;
  std::int64_t device = -1, queue = -1;  // -1: not known
  std::int64_t start = 0, end = 0;
  std::int64_t bytes = -1;
};

struct Operator {
  std::int64_t pid = 0, tid = 0, start = 0, end = 0;
  std::string_view name;
};

// A GPU as the file numbers it.
struct Device {
  std::int64_t pid = 0, number = 0;
  std::string_view pci;  // 0000:0a:00.0
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual Result<void> call(const HostCall& call) = 0;
  virtual Result<void> work(const Work& work) = 0;
  virtual Result<void> operation(const Operator& operation) = 0;
  virtual Result<void> device(const Device& device) = 0;
};

enum class Clock { Boot, Real };
struct Origin {
  std::string_view format;  // rocpd or kineto
  Clock clock{};
  std::int64_t base = 0;
};

// HIP's own kernels that copy and fill stand for that, not for a kernel of the program.
WorkKind kind_of_kernel(std::string_view name);

bool is_sqlite(const std::string& path);
// A trace in Perfetto's protobuf begins with a packet: field 1, a byte that is a line break in text. Other control
// characters behind it show that the file is no text.
bool is_perfetto(const std::string& path);
// A database of rocprofv3.
Result<Origin> read_rocpd(const std::string& path, Sink& sink);
// A trace of PyTorch's profiler or in the Trace Event Format, also compressed by gzip. Read as a stream.
Result<Origin> read_kineto(const std::string& path, Sink& sink);

}  // namespace fade::foreign
