-- How busy each GPU was, by its own times, and why it was idle
-- about: Busy is the time in which anything ran, on whatever queue: no moment counts twice. It counts from the first
--   work to the last one.
-- about: Idle times have a cause by what the thread that put the next work to run did when the work before ended.
--   fade's own stops delay launches, too: fade-query overhead.
-- about: A share is of the work that has a time: without_time says how much has none. Report gpu-coverage says why.
-- sort: pid
-- leave: max_idle_ns unknown_ns late without_time overlap_percent copy_ns kernel_ns first_ns queued_ns copy_idle_ns
-- none: no work of a GPU has a time
-- question: work
-- topic: kernels
-- record: --gpu-times
-- column: pid              id        process
-- column: device           id        ordinal of the device; empty: not known
-- column: first_ns         time      begin of the first work
-- column: duration_ns      duration  from there to the end of the last work
-- column: busy_percent     percent   of that, the time with any work
-- column: busy_ns          duration  time with any work
-- column: kernel_ns        duration  time with a kernel or a fill
-- column: copy_ns          duration  time with a copy
-- column: overlap_percent  percent   of the time with a copy, that with a kernel or a fill as well
-- column: idle_ns          duration  time without work
-- column: launch_idle_ns   duration  of that, while the thread of the next work was in a launch, or made one right
--   after the other
-- column: sync_idle_ns     duration  of that, after the host had waited for the GPU in a synchronising call
-- column: copy_idle_ns     duration  of that, after the host had waited in a copy
-- column: host_idle_ns     duration  of that, while the thread of the next work did something else
-- column: queued_ns        duration  of that, while the next work was queued already
-- column: unknown_ns       duration  of that, before work that is tied to no call, or during a wait for another device
-- column: max_idle_ns      duration  the longest time without work
-- column: without_time     count     works of the process without a time
-- column: late             count     works whose time was told too late to count here
SELECT b.pid, b.device, b.first AS first_ns, b.duration AS duration_ns,
       round(100.0 * b.busy_ns / nullif(b.duration, 0), 2) AS busy_percent, b.busy_ns, b.kernel_ns, b.copy_ns,
       round(100.0 * b.overlap_ns / nullif(b.copy_ns, 0), 2) AS overlap_percent, b.idle_ns,
       coalesce(sum(iif(g.cause = 'launch', g.total_ns, NULL)), 0) AS launch_idle_ns,
       coalesce(sum(iif(g.cause = 'sync', g.total_ns, NULL)), 0) AS sync_idle_ns,
       coalesce(sum(iif(g.cause = 'copy', g.total_ns, NULL)), 0) AS copy_idle_ns,
       coalesce(sum(iif(g.cause = 'host', g.total_ns, NULL)), 0) AS host_idle_ns,
       coalesce(sum(iif(g.cause = 'queued', g.total_ns, NULL)), 0) AS queued_ns,
       coalesce(sum(iif(g.cause = 'unknown', g.total_ns, NULL)), 0) AS unknown_ns,
       coalesce(max(g.max_ns), 0) AS max_idle_ns,
       (SELECT c.untimed + c.unread FROM gpu_coverage c WHERE c.process_id = b.process_id) AS without_time, b.late
FROM gpu_busy b
LEFT JOIN gpu_gaps g ON g.process_id = b.process_id AND g.device_id = b.device_id
WHERE true /*? AND b.session = :session */ /*? AND b.pid = :pid */ /*? AND b.device = :device */
GROUP BY b.process_id, b.device_id
