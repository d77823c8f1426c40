// The rows of another profiler's file on their way into a recording: temporary tables of the connection that writes the
// recording. So a file may be larger than memory, and if anything goes wrong, nothing was written.
#pragma once
#include <cstdint>
#include <string>

#include "cli/foreign/trace.hpp"
#include "store/sqlite.hpp"

namespace fade::query {

// in_call, in_work, in_operator, in_device: rows of the file. in_process, in_thread: which rows of the recording they
// are of. own_call, their_call: calls of both sides that have thread and name in common, in order of time.
class ImportStage : public foreign::Sink {
 public:
  explicit ImportStage(sqlite::Db& db) : db_(db) {}
  Result<void> begin();
  Result<void> call(const foreign::HostCall& call) override;
  Result<void> work(const foreign::Work& work) override;
  Result<void> operation(const foreign::Operator& operation) override;
  Result<void> device(const foreign::Device& device) override;

  // After the last row. Times get `base`.
  Result<void> find_processes(std::int64_t session, std::int64_t base);
  bool has_processes() const { return processes_ > 0; }
  Result<std::string> pids_of_file();
  Result<void> pair_calls();

 private:
  sqlite::Db& db_;
  sqlite::Stmt call_, work_, operator_, device_;
  std::int64_t processes_ = 0;
};

}  // namespace fade::query
