// Launches of kernels, one by one or as a graph, and the names and code of kernels.
#pragma once
#include "store/books.hpp"
#include "store/copy_recorder.hpp"
#include "store/launch_memo.hpp"
#include "store/memory_recorder.hpp"
#include "store/recorded_call.hpp"

namespace fade::store {

class LaunchRecorder {
 public:
  LaunchRecorder(sqlite::Db& db, Failure& failure, Books& books, StreamRecorder& streams);

  // `lanes_told` changes whenever a sum or a kept row may have become another: launches are remembered no longer then.
  void record(RecordedCall& call, std::uint64_t lanes_told);
  // More launches like `call`, which was recorded just now.
  void more(const RecordedCall& call, const AlikeCalls& more);
  // How a kernel is counted that a graph call names.
  GraphKernel graph_kernel(const RecordedCall& call, const probes::KernelUse& use);

 private:
  void launch_named(RecordedCall& call, std::uint64_t lanes_told);
  void launch_listed(RecordedCall& call);
  LaunchMemo::Key key_of(const RecordedCall& call) const;
  void launch_again(RecordedCall& call, const LaunchMemo::Launch& known);
  LaunchSum& launch(RecordedCall& call, const probes::KernelUse& use, StreamRow stream, std::int64_t nth);

  Books& books_;
  StreamRecorder& streams_;
  LaunchMemo memo_;
  LaunchMemo::Launch last_;  // valid until the next call or notice
  Write more_launches_;
};

// Calls about graphs: the nodes of a graph, and the effect of its launch.
class GraphRecorder {
 public:
  GraphRecorder(Books& books, StreamRecorder& streams, LaunchRecorder& launches, CopyRecorder& copies,
                MemoryRecorder& memory)
      : books_(books), streams_(streams), launches_(launches), copies_(copies), memory_(memory) {}

  void record(RecordedCall& call);

 private:
  void describe(const RecordedCall& call, GraphCall& out);

  Books& books_;
  StreamRecorder& streams_;
  LaunchRecorder& launches_;
  CopyRecorder& copies_;
  MemoryRecorder& memory_;
};

// Modules that a program loads and unloads, and the handles of their kernels.
class ModuleRecorder {
 public:
  explicit ModuleRecorder(Books& books) : kernels_(books.kernels), codes_(books.codes) {}

  void load(const RecordedCall& call);
  void unload(const RecordedCall& call);
  // hipModuleGetFunction, __hipRegisterFunction: a handle and the name of its kernel. hipGetFuncBySymbol: another
  // handle.
  void name_kernel(const RecordedCall& call);

 private:
  void forget(ProcessId process, std::uint64_t module);

  KernelBook& kernels_;
  CodeBook& codes_;
};

}  // namespace fade::store
