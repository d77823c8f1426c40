-- Which library called the GPU's functions, how often and how long, and the memory it allocated
-- about: The library is the one that holds the calling instruction. Calls that --budget only counted are in none of
--   these sums.
-- about: More about memory: fade-query memory-libraries.
-- sort: -self_ns
-- limit: 40
-- leave: pid functions errors peak_bytes allocated_bytes total_ns
-- none: no library called a watched function
-- question: devices
-- topic: calls
-- column: library          text      path of the calling library or program; (no library): memory that belongs to none
-- column: pid              id        process
-- column: rank             count     of the process in a distributed job
-- column: calls            count     calls that it made
-- column: errors           count     of them failed
-- column: total_ns         net       time between entry and return
-- column: self_ns          net       the same without watched calls inside
-- column: percent          percent   share of all self time
-- column: functions        count     how many different functions it called
-- column: most             text      the function that took most of the time
-- column: allocated_bytes  bytes     memory of devices that it asked for (of CUDA too), all together
-- column: peak_bytes       bytes     the most of it that was in use at one time, added up over devices
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid),
stat AS MATERIALIZED (
  SELECT * FROM caller_stats
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND name REGEXP :name */
    /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
), memory AS MATERIALIZED (
  SELECT session, pid, coalesce(library, '') AS library, sum(allocated) AS allocated,
         sum(peak) AS peak FROM memory_libraries
  WHERE memory = 'device' /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  GROUP BY session, pid, library
), caller AS (
  SELECT session, pid, coalesce(library, '') AS library, sum(calls) AS calls,
         sum(errors) AS errors, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns,
         count(DISTINCT name) AS functions
  FROM stat GROUP BY process_id, library
)
SELECT CASE c.library WHEN '' THEN '(no library)' ELSE c.library END AS library, c.pid,
       (SELECT r.rank FROM rank_of r WHERE r.session = c.session AND r.pid = c.pid) AS rank, c.calls, c.errors,
       c.total_ns, c.self_ns, round(100.0 * c.self_ns / nullif(sum(c.self_ns) OVER (), 0), 2) AS percent, c.functions,
       (SELECT s.name FROM stat s WHERE s.session = c.session AND s.pid = c.pid
           AND coalesce(s.library, '') = c.library ORDER BY s.self_ns DESC, s.name LIMIT 1) AS most,
       m.allocated AS allocated_bytes, m.peak AS peak_bytes
FROM caller c LEFT JOIN memory m ON m.session = c.session AND m.pid = c.pid AND m.library = c.library
