// The things that can begin at a site: the functions of a session, each known once per library file, with the needs of
// their calls. Indexes count from 1 and stay; all processes of the session share them.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "session/needs.hpp"

namespace fade {

struct Entry {
  enum class What : std::uint8_t {
    Function,   // a probed call
    Loader,     // the dynamic loader reports that a module was loaded or unloaded
    Resolver,   // of an IFUNC: returns the address of the function that `probe` describes
    Sigaction,  // libc's sigaction, and
    Sigmask,    // pthread_sigmask: the program's wishes about SIGTRAP (TrapGuard)
  };
  What what = What::Function;
  FunctionId function = 0;  // 0 for Loader and Resolver
  probes::ProbePtr probe;
  std::string library;
  int library_major = 0;
  Needs needs;              // of Function and Resolver
  std::uint64_t stops = 0;  // since last asked
  std::int64_t held_ns = 0;
  std::uint64_t left_out = 0;  // calls of libraries that are not among needs.callers

  // Tests if it begins a call. The other entries guard the program's view of its libraries and signals.
  bool is_call() const { return what == What::Function || what == What::Resolver; }
};

class FunctionTable {
 public:
  // A pattern of the libraries of which calls of a function are recorded; empty: of all.
  using CallersOf = std::function<std::string(const probes::Probe&)>;

  // Adds further needs of a function's calls.
  using MoreNeeds = std::function<void(const probes::Probe&, Needs&)>;

  FunctionTable(EventSink& sink, const probes::Overrides& overrides, CallersOf callers = {}, MoreNeeds more = {});

  std::uint32_t loader() const { return 1; }
  std::uint32_t set_action() const { return 2; }
  std::uint32_t set_mask() const { return 3; }
  // `other_names`: further names of the library for the same address; taken from the first request.
  std::uint32_t function(const probes::ProbePtr& probe, const std::string& library, int library_major,
                         const std::vector<std::string>& other_names = {});
  std::uint32_t resolver(const probes::ProbePtr& probe, const std::string& library, int library_major);

  Entry& operator[](std::uint32_t index) { return *entries_[index]; }
  // Sends the cost of stops since the last time.
  void report_costs();
  // Sends how many calls were left out since the last time.
  void report_left_out(std::int64_t now);

 private:
  using Key = std::pair<std::string, std::string>;  // library, symbol
  std::uint32_t add(Entry entry);

  EventSink& sink_;
  const probes::Overrides& overrides_;
  CallersOf callers_;
  MoreNeeds more_;
  std::vector<std::unique_ptr<Entry>> entries_;  // [0] stands for "nothing"
  std::map<Key, std::uint32_t> functions_, resolvers_;
  FunctionId last_function_ = 0;
};

}  // namespace fade
