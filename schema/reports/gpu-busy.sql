-- How busy each GPU was in each second
-- about: Busy is the time in which anything ran, on whatever queue: no moment counts twice. A second without any work
--   has no row.
-- sort: second
-- limit: 60
-- leave: overlap_ns pid
-- none: no work of a GPU has a time
-- question: work
-- topic: kernels
-- record: --gpu-times
-- column: second        count     since the start of the recording
-- column: pid           id        process
-- column: device        id        ordinal of the device; empty: not known
-- column: busy_percent  percent   of the second, with any work
-- column: busy_ns       duration  time with any work
-- column: kernel_ns     duration  time with a kernel or a fill
-- column: copy_ns       duration  time with a copy
-- column: overlap_ns    duration  time with both
SELECT sec AS second, pid, device, round(busy_ns / 1e7, 2) AS busy_percent, busy_ns, kernel_ns, copy_ns, overlap_ns
FROM gpu_busy_seconds
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND device = :device */
  /*? AND (sec + 1) * 1000000000 > :from */ /*? AND sec * 1000000000 < :to */
