#include "store/books.hpp"

#include <string_view>

namespace fade::store {
namespace {

constexpr char kBucketSums[] =
    "DO UPDATE SET used = excluded.used, peak = max(peak, excluded.peak), allocs = allocs + excluded.allocs, "
    "frees = frees + excluded.frees";

}  // namespace

Books::Books(sqlite::Db& db, Failure& failure, SessionRow session, const DetailLevels& of_groups, KernelFilter filter,
             StepRule step, DetailRule rule)
    : levels(of_groups),
      detail(std::move(rule)),
      bucket_rows("mem_bucket_", 7, kBucketSums),
      directory(db, failure, session, levels),
      rollups(db, failure),
      codes(db, failure),
      kernels(db, failure, session, std::move(filter), codes),
      launches(db, failure),
      gpu(db, failure, session, gpu_rows),
      graphs(db, failure),
      streams(db, failure),
      devices(db, failure),
      nvml(db, failure),
      memory(db, failure, alloc_rows, bucket_rows, last_row<AllocRow>(db, "alloc_"), directory.libraries()),
      copies(db, failure),
      errors(db, failure),
      overrides(db, failure, directory, session),
      cached(db, failure, directory),
      injections(db, failure, directory, session),
      bindings(db, failure, directory),
      stacks(db, failure, directory),
      names(db, failure),
      callers(db, failure, directory.libraries()),
      postmortems(db, failure, directory, memory, session),
      uses(db, failure),
      steps(db, failure, std::move(step), memory, detail),
      numbers(db, failure, directory, steps),
      checks(db, failure, directory, steps),
      actions(db, failure, directory, steps, session),
      ranges(db, failure, steps),
      idle(db, failure),
      waits(db, failure),
      arguments(db, failure) {
  for (BatchTable* table : batch_tables())
    if (Result<void> attached = table->attach(db); !attached) failure.note(std::move(attached.error()));
}

void Books::flush_rows(Failure& failure) {
  for (BatchTable* table : batch_tables()) {
    if (failure) table->clear();
    else if (Result<void> done = table->flush(); !done) failure.note(std::move(done.error()));
  }
}

void Books::flush_sums() {
  rollups.flush();
  streams.flush();
  gpu.flush();
  graphs.flush();
  codes.flush();
  memory.flush();
  copies.flush();
  errors.flush();
  overrides.flush();
  injections.flush();
  numbers.flush();
  uses.flush();
  ranges.flush();
  idle.flush();
  waits.flush();
  stacks.flush();
  callers.flush();
  arguments.flush();
}

void Books::set_keep(const Keep& wanted) {
  const auto have_rows = [&](std::string_view group) { return levels.of("hip", group) != Detail::Stats; };
  keep = allowed = wanted;
  keep.calls = keep.calls && detail.wants_rows();
  memory.keep_rows(keep.allocs && have_rows("mem"));
  ranges.keep_rows(keep.calls && levels.of({}, "marker") != Detail::Stats);
  gpu.keep_rows(keep.calls && have_rows("kernel"), keep.calls && have_rows("copy"));
  if (keep.timeline) return;
  memory.end_timeline();
  gpu.end_timeline();
  rollups.end_timeline();
}

}  // namespace fade::store
