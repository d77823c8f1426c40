// The books of a recording, one for each family of tables, and the tables that take rows by the batch. Passive: the
// recorders of calls and notices fill them. More members than a class should have, because there are as many families.
#pragma once
#include <array>

#include "base/detail_levels.hpp"
#include "store/action_book.hpp"
#include "store/argument_book.hpp"
#include "store/batch_table.hpp"
#include "store/binding_book.hpp"
#include "store/cached_book.hpp"
#include "store/caller_book.hpp"
#include "store/check_book.hpp"
#include "store/code_book.hpp"
#include "store/copy_book.hpp"
#include "store/detail_window.hpp"
#include "store/device_book.hpp"
#include "store/directory.hpp"
#include "store/error_book.hpp"
#include "store/frame_namer.hpp"
#include "store/gpu_book.hpp"
#include "store/graph_book.hpp"
#include "store/idle_book.hpp"
#include "store/injection_book.hpp"
#include "store/keep.hpp"
#include "store/kernel_book.hpp"
#include "store/launch_table.hpp"
#include "store/memory_ledger.hpp"
#include "store/number_book.hpp"
#include "store/nvml_book.hpp"
#include "store/override_book.hpp"
#include "store/postmortem_book.hpp"
#include "store/process_use.hpp"
#include "store/range_book.hpp"
#include "store/rollups.hpp"
#include "store/shared_handles.hpp"
#include "store/stack_book.hpp"
#include "store/step_book.hpp"
#include "store/stream_book.hpp"
#include "store/wait_book.hpp"

namespace fade::store {

struct Books {  // the state of one recording: a field is the writer of its own tables
  Books(sqlite::Db& db, Failure& failure, SessionRow session, const DetailLevels& levels, KernelFilter filter,
        StepRule step, DetailRule rule);

  std::array<BatchTable*, 5> batch_tables() { return {&call_rows, &copy_rows, &alloc_rows, &bucket_rows, &gpu_rows}; }
  // Inserts the rows that wait; drops them after a failure.
  void flush_rows(Failure& failure);
  // Writes the sums of all books; rows of batch tables that this makes still wait.
  void flush_sums();
  // `wanted`: as the size limit allows. Times without detail have no rows of calls besides, and groups of functions
  // that are only counted have none of theirs.
  void set_keep(const Keep& wanted);

  const DetailLevels levels;
  Keep keep, allowed;
  DetailWindow detail;
  BatchTable call_rows{"call_", 9}, copy_rows{"copy_", 7}, alloc_rows{"alloc_", 11}, bucket_rows,
      gpu_rows{"gpu_work_", 12};
  Directory directory;
  Rollups rollups;
  CodeBook codes;
  KernelBook kernels;
  LaunchTable launches;
  GpuBook gpu;
  GraphBook graphs;
  StreamBook streams;
  DeviceBook devices;
  NvmlBook nvml;
  MemoryLedger memory;
  SharedHandles handles;
  CopyBook copies;
  ErrorBook errors;
  OverrideBook overrides;
  CachedBook cached;
  InjectionBook injections;
  BindingBook bindings;
  StackBook stacks;
  FrameNamer names;
  CallerBook callers;
  PostmortemBook postmortems;
  ProcessUse uses;
  StepBook steps;
  NumberBook numbers;
  CheckBook checks;
  ActionBook actions;
  RangeBook ranges;
  IdleBook idle;
  WaitBook waits;
  ArgumentBook arguments;
};

}  // namespace fade::store
