// The meaning of a session's ids: processes, threads, functions, modules, call sites, with their rows. Ids count from 1
// in every session; rows of an appended session follow those of the earlier ones.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/detail_levels.hpp"
#include "base/event.hpp"
#include "base/pid.hpp"
#include "probes/hsa_calls.hpp"
#include "probes/probe.hpp"
#include "store/call_family.hpp"
#include "store/call_view.hpp"
#include "store/copy_words.hpp"
#include "store/launch_memo.hpp"
#include "store/libraries.hpp"
#include "store/result_rules.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// Highest ids that the file already holds.
struct Bases {
  CallRow call = 0;
  ProcessRow process = 0;
  ThreadRow thread = 0;
  ModuleRow module = 0;
  FunctionRow function = 0;
  SiteRow site = 0;
  RuleRow rule = 0;
  FrameRow frame = 0;
  StackRow stack = 0;
  static Bases read(sqlite::Db& db);
};

struct FunctionEntry {  // a field answers a question of the recorders, once for all calls
  FunctionRow row = 0;
  probes::ProbePtr probe;
  std::string name{};  // as it is stored: without the additions of C++
  CallFamily family{};
  probes::MemoryAction memory;
  Detail detail = Detail::Calls;  // of its calls
  int library_major = 0;
  std::uint64_t with_args = 0;                  // calls with arguments that were stored as text
  bool is_marker = false;                       // marks the begin or end of a range of the program
  probes::HsaCall hsa = probes::HsaCall::None;  // tells about work of a GPU
  bool waits = false;                           // for the GPU
  bool is_only_summed = false;                  // probes::is_only_summed()
  bool separates_steps = false;
  bool names_kernel = false;  // in a parameter: it launches that one
  LaunchWords launch{};       // if known
  CopyWords copy{};           // if known
  ResultWord result{};
  std::vector<std::int64_t> normal{};  // results that are an answer though they are not success

  bool is_answer(std::int64_t code) const { return std::find(normal.begin(), normal.end(), code) != normal.end(); }
};
struct ThreadEntry {
  ThreadRow row = 0;
  ProcessId process = 0;
  int device = kUnknownDevice;  // current device, hipSetDevice
  bool device_told = false;     // by a call of this thread
  CallRow copied_inside = 0;    // the newest call that another copy was made inside of
  CallId launched_in = 0;       // the call that its last launch was made inside of
};
// The name of a C++ function outside of namespaces, without its parameters; any other symbol as it is.
std::string plain_name(const std::string& symbol);

class Directory {
 public:
  Directory(sqlite::Db& db, Failure& failure, SessionRow session, const DetailLevels& levels);

  void on(const ProcessStarted& notice);
  void on(const ProcessExec& notice);
  void on(const ProcessEnded& notice);
  void on(const ThreadStarted& notice);
  void on(const ThreadEnded& notice);
  void on(const ModuleLoaded& notice);
  void on(const ModuleUnloaded& notice);
  void on(const FunctionDefined& notice);
  void on(const CallSiteSeen& notice);

  // nullptr for an id that was never announced.
  FunctionEntry* function(FunctionId id) {
    return id.value() < functions_.size() && functions_[id.value()].probe ? &functions_[id.value()] : nullptr;
  }
  ThreadEntry* thread(ThreadId id) {
    return id.value() < threads_.size() && threads_[id.value()].row ? &threads_[id.value()] : nullptr;
  }

  CallRow call_row(CallId id) const { return behind(bases_.call, id.value()); }
  ProcessRow process_row(ProcessId id) const { return behind(bases_.process, id.value()); }
  ThreadRow thread_row(ThreadId id) const { return behind(bases_.thread, id.value()); }
  FunctionRow function_row(FunctionId id) const {
    if (id.value() < functions_.size() && functions_[id.value()].row != 0) return functions_[id.value()].row;
    return behind(bases_.function, id.value());
  }
  ModuleRow module_row(ModuleId id) const { return behind(bases_.module, id.value()); }
  SiteRow site_row(CallSiteId id) const { return behind(bases_.site, id.value()); }
  RuleRow rule_row(RuleId id) const { return behind(bases_.rule, id.value()); }
  FrameRow frame_row(FrameId id) const { return behind(bases_.frame, id.value()); }
  StackRow stack_row(StackId id) const { return behind(bases_.stack, id.value()); }

  const Libraries& libraries() const { return libraries_; }
  LibraryId library_of(CallSiteId site) const {
    return site.value() < site_libraries_.size() ? site_libraries_[site.value()] : Libraries::kUnknown;
  }

  std::uint64_t processes() const { return processes_; }
  std::uint64_t threads() const { return thread_count_; }
  const std::string& function_name(FunctionRow row) const;
  std::string process_label(ProcessRow row) const;  // "process 4242"

 private:
  template <class Row>
  static Row behind(Row base, std::uint64_t id) {  // id 0: no row
    return id == 0 ? Row() : Row::of(static_cast<std::int64_t>(id) + base.value());
  }

  // The statements of the tables that notices fill. Passive.
  struct Tables {
    Tables(sqlite::Db& db, Failure& failure);
    Write process, process_exec, process_end, thread, thread_end, module, module_end, function, function_name, site;
  };

  const SessionRow session_;
  const DetailLevels levels_;
  const Bases bases_;
  const ResultRules rules_;
  std::vector<FunctionEntry> functions_;  // by id; several of one name in one library share a row
  std::map<std::pair<std::string, std::string>, FunctionRow> function_rows_;
  std::vector<ThreadEntry> threads_;  // by id
  Libraries libraries_;
  std::vector<LibraryId> site_libraries_;  // by id
  std::unordered_map<ProcessRow, Pid> pids_;
  std::uint64_t processes_ = 0, thread_count_ = 0;
  Tables tables_;
};

}  // namespace fade::store
