-- fade's tables in ClickHouse, version 2. `fade-query push URL --init` makes them. Each statement is valid for
-- ClickHouse 18.16 and for current ones: no LowCardinality, no codecs, no window functions.
-- Columns have the names and the meaning of the views of a recording (man fade-schema). Added are:
--   day        first day (UTC) of the recording; partitions are its months
--   job        fade-query push --job, else the job of the environment, else the recording's number
--   host       machine of the recording
--   recording  a number of 63 bits for each session of a recording (table recordings); rows are sharded by it
--   rank       of the process in a distributed job, else of the recording's only rank
--   snapshot   see below
-- Times are nanoseconds since the start of the recording, as in its views: recordings.start_ns + start is UTC.
-- Tables of rows that never change once written have the name of their view. Sums change while a program runs. They
-- are sent as a whole again and again, each time with a greater `snapshot`, into the table NAME_all. The view NAME has
-- the newest complete snapshot of each recording. Read NAME, not NAME_all.
-- In a cluster (--cluster) these tables have a _ at the end of their names, and the names here are Distributed tables.

-- The version of these tables, and the cluster of --cluster, or ''. A local table of each server.
-- Its newest row counts.
CREATE TABLE IF NOT EXISTS fade_schema (version Int64, cluster String, made DateTime)
ENGINE = MergeTree ORDER BY (version, made);

-- Complete snapshots. `rows` are those of the table.
CREATE TABLE IF NOT EXISTS snapshots (
  day Date, job String, recording UInt64, name String, snapshot Int64, rows Int64, pushed_ns Int64)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (name, recording, snapshot);

-- One row for each recording: a session of a file. start_ns, end_ns: UTC. ranks: how many processes have a rank.
-- rank: NULL if there are several or none. pid, command: of the first process. closed: 1 once fade has closed the
-- recording. complete: 1 once all of a closed recording was sent. stamp: of the file as it was then.
CREATE TABLE IF NOT EXISTS recordings_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, session Int64,
  file String, kind String, start_ns Int64, end_ns Nullable(Int64), duration Nullable(Int64), boot_ns Int64,
  boot_id String, kernel String, cwd String, command String, options String, detail String, fade_version String,
  closed Int64, complete Int64, pid Nullable(Int64), processes Int64, ranks Int64, world_size Nullable(Int64),
  local_rank Nullable(Int64), group_rank Nullable(Int64), rank_source Nullable(String), exit_code Nullable(Int64),
  exit_signal Nullable(Int64), rocm Nullable(String), gpu Nullable(String), calls Int64, errors Int64, launches Int64,
  verdict Nullable(String), schema Int64, stamp String, pushed_ns Int64)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot);

-- Each recorded call.
CREATE TABLE IF NOT EXISTS calls (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), id Int64, start Int64,
  duration Nullable(Int64), pid Int64, tid Int64, category String, name String, parent_id Nullable(Int64),
  result Nullable(Int64), result_name Nullable(String), failed Nullable(Int64), state String,
  caller_id Nullable(Int64), caller Nullable(String), caller_library Nullable(String), thread_id Int64,
  function_id Int64, launch_id Nullable(Int64), "end" Nullable(Int64) ALIAS start + duration)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, start, id);

-- Each launch of a kernel.
CREATE TABLE IF NOT EXISTS launches (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), id Int64, start Int64,
  duration Nullable(Int64), pid Int64, tid Int64, name String, mangled Nullable(String), library String,
  grid_x Nullable(Int64), grid_y Nullable(Int64), grid_z Nullable(Int64), block_x Nullable(Int64),
  block_y Nullable(Int64), block_z Nullable(Int64), shared_bytes Nullable(Int64), stream_id Nullable(Int64),
  stream Nullable(Int64), function Nullable(String), result Nullable(Int64), caller_id Nullable(Int64),
  kernel_id Int64, device Nullable(Int64), captured Nullable(Int64), nth Int64, more Nullable(Int64),
  "end" Nullable(Int64) ALIAS start + duration)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, start, id, nth);

-- Each copy between host and device.
CREATE TABLE IF NOT EXISTS copies (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), id Int64, start Int64,
  duration Nullable(Int64), pid Int64, tid Int64, name String, kind Nullable(Int64), direction String,
  size Nullable(Int64), stream Nullable(Int64), stream_id Nullable(Int64), result Nullable(Int64),
  caller_id Nullable(Int64), memory String, "end" Nullable(Int64) ALIAS start + duration)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, start, id);

-- Work of GPUs with its times (--gpu-times).
CREATE TABLE IF NOT EXISTS gpu_work (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), id Int64, pid Int64, tid Int64,
  kind String, name String, device Nullable(Int64), queue Nullable(Int64), stream Nullable(Int64),
  stream_id Nullable(Int64), call Nullable(Int64), start Int64, duration Nullable(Int64), bytes Nullable(Int64),
  thread_id Int64, process_id Int64, source String, "end" Nullable(Int64) ALIAS start + duration)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, start, id);

-- The steps of the program.
CREATE TABLE IF NOT EXISTS steps_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64,
  process_id Int64, pid Int64, tid Int64, idx Int64, name String, start Int64, "end" Nullable(Int64),
  duration Nullable(Int64), complete Nullable(Int64), median_ns Nullable(Int64), vs_median Nullable(Float64),
  slow Nullable(Int64), calls Int64, errors Int64, launches Int64, copies Nullable(Int64),
  copied_bytes Nullable(Int64), growth_bytes Nullable(Int64), in_calls_ns Nullable(Int64), waited_ns Nullable(Int64),
  first_call_id Nullable(Int64), last_call_id Nullable(Int64), thread_id Int64)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, id);

-- Calls of collective operations (RCCL) of communicators of all ranks. communicator, nth: the n-th operation of the
-- n-th such communicator is the same one in all ranks. step: that it was made in. gpu_start, gpu_end: of its work
-- there.
CREATE TABLE IF NOT EXISTS collective_calls_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, communicator Int64,
  nth Int64, pid Int64, tid Int64, name String, start Int64, duration Nullable(Int64), call_id Nullable(Int64),
  step Nullable(Int64), gpu_start Nullable(Int64), gpu_end Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, communicator, nth, pid);

-- Complete steps of ranks, of the thread that makes most of them, with the time spent in each category of calls
-- (fade-query categories), outside of calls, and by the GPU; and what sensors told of its GPU in the middle of the
-- step.
-- gpu_ns: of all its work there. met_ns: of its work of collective operations; NULL: there was none with times.
-- categories: "CATEGORY:ns:calls" of each, with commas between them.
CREATE TABLE IF NOT EXISTS rank_steps_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, idx Int64, name String,
  pid Int64, tid Int64, start Int64, duration Nullable(Int64), waited_ns Nullable(Int64), outside_ns Nullable(Int64),
  gpu_ns Nullable(Int64), categories String, device Nullable(Int64), mhz Nullable(Float64),
  watts Nullable(Float64), celsius Nullable(Float64), met_ns Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, idx, pid);

-- Calls added up by function, thread and calling function. buckets: "BUCKET:calls" of each bucket of durations that has
-- calls, with commas between them. Bucket 0 begins at 0, bucket b at 2^(6 + b / 2) * (2 + b % 2) ns.
CREATE TABLE IF NOT EXISTS call_stats_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64, tid Int64,
  thread_id Int64, function_id Int64, category String, name String, parent_function_id Nullable(Int64), parent String,
  calls Int64, errors Int64, total_ns Nullable(Int64), self_ns Nullable(Int64), min_ns Nullable(Int64),
  max_ns Nullable(Int64), leaf_calls Nullable(Int64), raw_total_ns Nullable(Int64), least_ns Nullable(Int64),
  tapped_calls Nullable(Int64), counted_calls Nullable(Int64), buckets String)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, name, thread_id, parent);

-- Calls added up by function and second.
CREATE TABLE IF NOT EXISTS call_rate_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, sec Int64,
  function_id Int64, name String, calls Int64, total_ns Nullable(Int64), first_call_id Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, sec, name, function_id);

-- Calls added up by function and calling library.
CREATE TABLE IF NOT EXISTS caller_stats_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64,
  process_id Int64, library String, category String, name String, function_id Int64, calls Int64, errors Int64,
  total_ns Nullable(Int64), self_ns Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, name, library, process_id);

-- Launches added up by kernel and geometry.
CREATE TABLE IF NOT EXISTS kernel_runs_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, kernel_id Int64,
  name String, library String, grid_x Nullable(Int64), grid_y Nullable(Int64), grid_z Nullable(Int64),
  block_x Nullable(Int64), block_y Nullable(Int64), block_z Nullable(Int64), shared_bytes Nullable(Int64),
  launches Int64, errors Int64, in_graphs Nullable(Int64), launch_total_ns Nullable(Int64),
  launch_avg_ns Nullable(Int64), launch_max_ns Nullable(Int64), first Nullable(Int64), last Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, name, kernel_id);

-- Copies added up by function and direction.
CREATE TABLE IF NOT EXISTS copy_stats_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64, name String,
  kind Nullable(Int64), direction String, async Nullable(Int64), n Int64, bytes Nullable(Int64),
  avg_bytes Nullable(Int64), max_bytes Nullable(Int64), small_lt_64k Nullable(Int64), host_ns Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, name, pid, direction);

-- Work of GPUs added up by kernel and device.
CREATE TABLE IF NOT EXISTS gpu_stats_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, kind String, name String, kernel_id Int64, device Nullable(Int64), n Int64, total_ns Nullable(Int64),
  min_ns Nullable(Int64), max_ns Nullable(Int64), bytes Nullable(Int64), first Nullable(Int64), last Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, name, kind);

-- Work of GPUs added up by kernel and second.
CREATE TABLE IF NOT EXISTS gpu_seconds_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, kind String, name String, device Nullable(Int64), sec Int64, n Int64, ns Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, sec, kind, name);

-- How busy a device was.
CREATE TABLE IF NOT EXISTS gpu_busy_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, device Nullable(Int64), first Nullable(Int64), last Nullable(Int64), duration Nullable(Int64),
  busy_ns Nullable(Int64), kernel_ns Nullable(Int64), copy_ns Nullable(Int64), overlap_ns Nullable(Int64),
  idle_ns Nullable(Int64), kernels Nullable(Int64), kernel_median_ns Nullable(Int64), late Nullable(Int64),
  device_id Int64)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, pid);

-- How busy a device was in each second.
CREATE TABLE IF NOT EXISTS gpu_busy_seconds_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, device Nullable(Int64), sec Int64, busy_ns Nullable(Int64), kernel_ns Nullable(Int64),
  copy_ns Nullable(Int64), overlap_ns Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, sec, pid);

-- The time without work of a GPU, by cause.
CREATE TABLE IF NOT EXISTS gpu_losses_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, device Nullable(Int64), cause String, n Int64, total_ns Nullable(Int64), max_ns Nullable(Int64),
  duration Nullable(Int64), kernel_ns Nullable(Int64), copy_ns Nullable(Int64), alone_ns Nullable(Int64),
  own_ns Nullable(Int64), share Nullable(Float64), doubt Nullable(String), device_id Int64)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, cause, pid);

-- How much of the work of GPUs has times.
CREATE TABLE IF NOT EXISTS gpu_coverage_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, launches Int64, seen Nullable(Int64), timed Nullable(Int64), untimed Nullable(Int64),
  unread Nullable(Int64), untied Nullable(Int64), untold Nullable(Int64), uncalled Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, pid);

-- Blocking calls added up by function and caller.
CREATE TABLE IF NOT EXISTS waits_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, name String, kind String, caller_library Nullable(String), caller Nullable(String), calls Int64,
  blocked_ns Nullable(Int64), max_ns Nullable(Int64), longest_call_id Nullable(Int64), function_id Int64)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, name, pid);

-- Calls, launches and errors of each process and second.
CREATE TABLE IF NOT EXISTS process_use_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64,
  process_id Int64, sec Int64, calls Int64, errors Int64, launches Int64, failed_launches Nullable(Int64),
  first_launch Nullable(Int64), last_launch Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, sec, pid);

-- Failed calls, equal ones as one row.
CREATE TABLE IF NOT EXISTS failures_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64, start Int64,
  process_id Int64, pid Int64, thread_id Int64, tid Int64, name String, kind String, code Nullable(Int64),
  error Nullable(String), repeats Nullable(Int64), last Nullable(Int64), call_id Nullable(Int64),
  args Nullable(String), caller_id Nullable(Int64), caller Nullable(String), caller_library Nullable(String),
  class Nullable(String), normal Nullable(Int64), meaning Nullable(String), advice Nullable(String),
  stack Nullable(Int64), injected Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, id);

-- The first failed call of each process, and what followed.
CREATE TABLE IF NOT EXISTS first_errors_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, command Nullable(String), tid Int64, start Int64, name String, code Nullable(Int64),
  error Nullable(String), meaning Nullable(String), class Nullable(String), sticky Nullable(Int64),
  args Nullable(String), caller Nullable(String), caller_library Nullable(String), call_id Nullable(Int64),
  inside Nullable(String), next_name Nullable(String), next_result Nullable(String), asked_name Nullable(String),
  asked_result Nullable(String), asking_is_watched Nullable(Int64), calls_after Nullable(Int64),
  failures_after Nullable(Int64), same_after Nullable(Int64), verdict String, advice Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, pid);

-- Memory added up by device and kind.
CREATE TABLE IF NOT EXISTS memory_stats_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64,
  device Nullable(Int64), kind String, live_at_end Nullable(Int64), peak Nullable(Int64), peak_at Nullable(Int64),
  allocs Int64, frees Int64, allocated Nullable(Int64), unknown_frees Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, kind, pid);

-- Memory added up by device and in the host.
CREATE TABLE IF NOT EXISTS memory_totals_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64,
  device Nullable(Int64), memory String, live_at_end Nullable(Int64), peak Nullable(Int64), peak_at Nullable(Int64),
  allocs Int64, frees Int64, allocated Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, memory, pid);

-- Memory in use over time.
CREATE TABLE IF NOT EXISTS memory_timeline_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, ms Int64, pid Int64,
  device Nullable(Int64), kind String, used Nullable(Int64), peak Nullable(Int64), allocs Int64, frees Int64)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, ms, kind, pid);

-- Allocations that failed for want of memory.
CREATE TABLE IF NOT EXISTS ooms_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64, pid Int64,
  device Nullable(Int64), memory String, start Int64, name String, caller Nullable(String),
  caller_library Nullable(String), call_id Nullable(Int64), asked Nullable(Int64), used Nullable(Int64),
  free Nullable(Int64), total Nullable(Int64), told_at Nullable(Int64), elsewhere Nullable(Int64),
  bound Nullable(String), others Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, id);

-- Files that were mapped as libraries.
CREATE TABLE IF NOT EXISTS modules_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64, pid Int64,
  path String, soname Nullable(String), role String, version Nullable(String), build_id Nullable(String),
  sites Nullable(Int64), base Nullable(Int64), size Nullable(Int64), start Int64, "end" Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, path, pid, start);

-- Versions of libraries, and how they were found.
CREATE TABLE IF NOT EXISTS module_origins_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64,
  module_id Nullable(Int64), process_id Int64, pid Int64, program Nullable(Int64), path String,
  family Nullable(String), kind String, version Nullable(String), rocm Nullable(String), build_id Nullable(String),
  space Nullable(Int64), found_by Nullable(String), asked_by Nullable(String), rpath Nullable(String),
  runpath Nullable(String), not_taken Nullable(String), start Int64, "end" Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, path, pid, start);

-- The devices as the program knows them.
CREATE TABLE IF NOT EXISTS devices_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64, pid Int64,
  ordinal Int64, name String, arch Nullable(String), pci Nullable(String), uuid Nullable(String),
  total_memory Nullable(Int64), multiprocessors Nullable(Int64), told_name Nullable(String),
  told_arch Nullable(String), told_memory Nullable(Int64), told_multiprocessors Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, ordinal, pid);

-- The devices: what the program was told, and what the driver says.
CREATE TABLE IF NOT EXISTS device_truth_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, device_id Int64, device Int64, name String, arch Nullable(String), pci Nullable(String),
  has_wgps Nullable(Int64), told_multiprocessors Nullable(Int64), told_least_multiprocessors Nullable(Int64),
  told_warp_size Nullable(Int64), told_least_warp_size Nullable(Int64), told_memory Nullable(Int64),
  told_least_memory Nullable(Int64), told_clock_mhz Nullable(Int64), told_integrated Nullable(Int64),
  received_multiprocessors Nullable(Int64), received_warp_size Nullable(Int64), received_memory Nullable(Int64),
  node_id Nullable(Int64), matched_by Nullable(String), node Int64, driver_compute_units Nullable(Int64),
  driver_arch Nullable(String), driver_wave_size Nullable(Int64), driver_memory Nullable(Int64),
  driver_mhz Nullable(Int64), driver_cpu_cores Nullable(Int64), driver_device_id Nullable(Int64),
  driver_revision Nullable(Int64), driver_problem Nullable(String), reference_id Nullable(Int64),
  reference_name Nullable(String), reference_by Nullable(String), reference_compute_units Nullable(Int64),
  reference_memory Nullable(Int64), reference_shared_memory Nullable(Int64), reference_wave_size Nullable(Int64),
  reference_boost_mhz Nullable(Int64), compute_units Nullable(Int64), gpu_enable_wgp_mode Nullable(String),
  roc_global_cu_mask Nullable(String), hsa_cu_mask Nullable(String), hsa_override_gfx_version Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, device, pid);

-- Each property of a device: the answer to the program, that of the driver and the reference table.
CREATE TABLE IF NOT EXISTS device_facts_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64,
  device_id Int64, device Int64, place Int64, fact String, unit Nullable(String), properties Nullable(String),
  told Nullable(String), counts Nullable(String), told_by_zluda Nullable(String), received Nullable(String),
  received_from_zluda Nullable(String), told_by Nullable(String), driver Nullable(String), reference Nullable(String),
  told_by_nvml Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, device, place, pid);

-- The devices as the kernel driver lists them.
CREATE TABLE IF NOT EXISTS kfd_nodes_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64, node Int64,
  kind String, name String, problem Nullable(String), arch Nullable(String), pci Nullable(String),
  uuid Nullable(String), gpu_id Nullable(Int64), cpu_cores Nullable(Int64), simd_count Nullable(Int64),
  simd_per_cu Nullable(Int64), compute_units Nullable(Int64), wave_size Nullable(Int64), vendor_id Nullable(Int64),
  device_id Int64, revision Nullable(Int64), memory Nullable(Int64), memory_bits Nullable(Int64),
  memory_mhz Nullable(Int64), max_mhz Nullable(Int64), xccs Nullable(Int64), render_minor Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, node);

-- What sensors of GPUs told.
CREATE TABLE IF NOT EXISTS gpu_samples_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, node Int64, name String,
  pci Nullable(String), start Int64, duration Nullable(Int64), looks Nullable(Int64), asleep Nullable(Int64),
  busy_percent Nullable(Float64), busy_percent_most Nullable(Int64), memory_busy_percent Nullable(Float64),
  memory_busy_percent_most Nullable(Int64), memory Nullable(Int64), memory_most Nullable(Int64),
  memory_total Nullable(Int64), host_memory Nullable(Int64), host_memory_most Nullable(Int64),
  watts Nullable(Float64), watts_most Nullable(Float64), celsius Nullable(Float64), celsius_most Nullable(Float64),
  mhz Nullable(Float64), mhz_most Nullable(Float64), memory_mhz Nullable(Float64), memory_mhz_most Nullable(Float64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, node);

-- What fade noticed.
CREATE TABLE IF NOT EXISTS findings_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, pid Int64,
  device Nullable(Int64), finding String, severity Nullable(String), subject Nullable(String), text Nullable(String),
  advice Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, finding, pid);

-- Whether each process used the GPU.
CREATE TABLE IF NOT EXISTS verdicts_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, command Nullable(String), verdict String, working Nullable(Int64), helper Nullable(Int64),
  launcher Nullable(Int64), reason String, evidence Nullable(String), advice Nullable(String), launches Int64,
  failed_launches Nullable(Int64), first_launch Nullable(Int64), last_launch Nullable(Int64), calls Int64,
  failures Nullable(Int64), failure_id Nullable(Int64), start Int64, until Nullable(Int64), cpu_ns Nullable(Int64),
  cpu_after_launches_ns Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, process_id);

-- Whether the recorded program used the GPU.
CREATE TABLE IF NOT EXISTS session_verdicts_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, verdict String,
  reason String, evidence Nullable(String), advice Nullable(String), process_id Int64, pid Int64,
  command Nullable(String), working Nullable(Int64), processes Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, verdict);

-- Crashes and hangs.
CREATE TABLE IF NOT EXISTS postmortems_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64,
  process_id Int64, pid Int64, command Nullable(String), start Int64, kind String, what Nullable(String),
  signal Nullable(Int64), signal_name Nullable(String), code Nullable(Int64), code_name Nullable(String),
  address Nullable(Int64), sender_pid Nullable(Int64), sender_uid Nullable(Int64), sender_name Nullable(String),
  exit_code Nullable(Int64), quiet_ns Nullable(Int64), cause String, evidence Nullable(String), thread_id Int64,
  tid Int64, thread_name Nullable(String), call Nullable(String), calls_running Nullable(Int64),
  threads Nullable(Int64), device_bytes Nullable(Int64), host_bytes Nullable(Int64), advice Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, id);

-- The processes of the recording.
CREATE TABLE IF NOT EXISTS processes_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64,
  parent_id Nullable(Int64), pid Int64, ppid Nullable(Int64), uid Nullable(Int64), exe Nullable(String),
  command Nullable(String), start Int64, "end" Nullable(Int64), duration Nullable(Int64), exit_code Nullable(Int64),
  exit_signal Nullable(Int64), env Nullable(String), threads Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, id);

-- Ranks of processes, and where they are from.
CREATE TABLE IF NOT EXISTS process_ranks_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, local_rank Nullable(Int64), world_size Nullable(Int64), source String, group_rank Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, process_id);

-- The threads of the recording.
CREATE TABLE IF NOT EXISTS threads_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64,
  process_id Int64, pid Int64, tid Int64, name String, start Int64, "end" Nullable(Int64), calls Int64, errors Int64,
  total_ns Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, id);

-- Begins and ends, and what happened to the recording.
CREATE TABLE IF NOT EXISTS lifecycle_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64, start Int64,
  pid Int64, tid Int64, kind String, value Nullable(Int64), detail Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, id);

-- What was watched, and how closely.
CREATE TABLE IF NOT EXISTS watched_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, process_id Int64,
  pid Int64, topic String, complete Nullable(Int64), level Nullable(String), has_rows Nullable(Int64),
  since Nullable(Int64), until Nullable(Int64), narrowed Nullable(String), why Nullable(String))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, topic, process_id);

-- Calls that were not recorded, with the reason.
CREATE TABLE IF NOT EXISTS drops_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64, start Int64,
  duration Nullable(Int64), n Int64, reason String)
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, start, id);

-- Rules that change answers, and how often they did.
CREATE TABLE IF NOT EXISTS overrides_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64,
  spec Nullable(String), target Nullable(String), value Nullable(String), origin Nullable(String),
  hits Nullable(Int64), first Nullable(Int64), last Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, id);

-- Files of other profilers that were taken in.
CREATE TABLE IF NOT EXISTS imports_all (
  day Date, job String, host String, recording UInt64, rank Nullable(Int64), snapshot Int64, id Int64,
  file Nullable(String), format Nullable(String), clock Nullable(String), shift_ns Nullable(Int64),
  spread_ns Nullable(Int64), calls Int64, matched Nullable(Int64), works Nullable(Int64), tied Nullable(Int64),
  operators Nullable(Int64), elsewhere Nullable(Int64))
ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (job, recording, snapshot, id);
