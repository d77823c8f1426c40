-- Memory by the library whose code asked for it
-- about: The library that called HIP, or CUDA on top of it. peak_bytes is that library's own peak; peaks of libraries
--   need not fall together.
-- sort: -peak_bytes
-- limit: 40
-- leave: frees pid peak_at_ns allocated_bytes
-- none: no memory was allocated
-- question: memory
-- topic: allocations
-- rows: of single calls
-- events: mem
-- column: pid              id     process
-- column: rank             count  of the process in a distributed job
-- column: device           id     as the process numbers it
-- column: memory           text   of the device, or pinned memory of the host
-- column: library          text   that called; empty: code that is no library's
-- column: peak_bytes       bytes  the most it had at once
-- column: peak_at_ns       time   when that was
-- column: live_bytes       bytes  not freed when the process or the recording ended
-- column: allocs           count  allocations
-- column: frees            count  of them that were freed
-- column: allocated_bytes  bytes  all allocations added up
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT pid, (SELECT r.rank FROM rank_of r WHERE r.session = memory_libraries.session
                AND r.pid = memory_libraries.pid) AS rank, device, memory, library,
       peak AS peak_bytes, peak_at AS peak_at_ns, live_at_end AS live_bytes, allocs, frees, allocated AS allocated_bytes
FROM memory_libraries
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND device = :device */
