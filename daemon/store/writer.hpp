// The thread that stores a session's records. It takes batches from the queue, hands them to the Recorder and commits
// at most every 200 ms, at once if a batch is urgent. No failure here stops the program. After a time in which another
// process has the file locked, the recording goes on (Outage). When the file can no longer be written, the writer
// reports it once, throws the rest away and counts it (CallAccount).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/batch_reader.hpp"
#include "base/detail_levels.hpp"
#include "base/event_queue.hpp"
#include "base/recording.hpp"
#include "base/result.hpp"
#include "store/session_row.hpp"
#include "store/totals.hpp"

namespace fade::store {

struct WriterOptions {
  std::string path;
  OpenMode open_mode = OpenMode::Create;
  std::uint64_t max_bytes = std::uint64_t{8} << 30;
  OnFull on_full = OnFull::Stats;
  DetailLevels detail;
  std::vector<std::string> kernel_include, kernel_exclude;  // regular expressions
  std::string debug_root = "/usr/lib/debug";                // where separate debug files lie, for the names of frames
  StepRule step;
  DetailRule detail_rule;
  std::int64_t commit_after_ns = 80'000'000;  // with the queue's patience, events are stored within 200 ms
  std::vector<BatchReader*> readers;          // they read the recorded batches, and outlive the writer
};

class Writer {
 public:
  // Creates or opens the file and writes the session's row. The patterns are checked before the file is touched.
  static Result<std::unique_ptr<Writer>> open(WriterOptions options, SessionInfo session, EventQueue& queue);
  ~Writer();  // finishes

  Result<void> start();     // fails if no thread can be made
  LiveTotals live() const;  // any thread; as of the last batch
  // Closes the queue, stores its content, closes the file in order. Once. Calls and dropped calls of the totals add up
  // to the calls that were put into the queue, whatever failed.
  Totals finish();

 private:
  class Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fade::store
