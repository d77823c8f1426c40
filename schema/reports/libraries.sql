-- Which library called the GPU's functions, how often and how long, and the memory it allocated
-- about: Over all calls: the library is the one that holds the calling instruction. Memory is told from the recorded allocations; without them (--detail stats) it is empty.
-- sort: -self_ns
-- limit: 40
-- leave: pid functions errors peak_bytes allocated_bytes total_ns
-- column: library          text      path of the calling library or program; empty: memory that belongs to none
-- column: pid              id        process
-- column: calls            count     calls that it made
-- column: errors           count     of them failed
-- column: total_ns         duration  time between entry and return
-- column: self_ns          duration  the same without watched calls inside
-- column: percent          percent   share of all self time
-- column: functions        count     how many different functions it called
-- column: most             text      the function that took most of the time
-- column: allocated_bytes  bytes     memory that it allocated, all together
-- column: peak_bytes       bytes     the most of it that was in use at one time
WITH stat AS MATERIALIZED (
  SELECT * FROM caller_stats
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND name REGEXP :name */
    /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
), memory AS MATERIALIZED (
  SELECT a.session, a.pid, coalesce(c.caller_library, '') AS library, a.size, a.start, a."end" FROM allocations a JOIN calls c ON c.id = a.alloc_call
  WHERE true /*? AND a.session = :session */ /*? AND a.pid = :pid */ /*? AND c.name REGEXP :name */
), change AS (
  SELECT session, pid, library, start AS at, size FROM memory UNION ALL SELECT session, pid, library, "end", -size FROM memory WHERE "end" IS NOT NULL
), used AS (
  SELECT session, pid, library, sum(size) OVER (PARTITION BY session, pid, library ORDER BY at, size ROWS UNBOUNDED PRECEDING) AS used FROM change
), peak AS MATERIALIZED (SELECT session, pid, library, max(used) AS bytes FROM used GROUP BY session, pid, library),
total AS MATERIALIZED (SELECT session, pid, library, sum(size) AS bytes FROM memory GROUP BY session, pid, library),
caller AS (
  SELECT session, pid, coalesce(library, '') AS library, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns,
         count(DISTINCT name) AS functions
  FROM stat GROUP BY process_id, library
)
SELECT nullif(c.library, '') AS library, c.pid, c.calls, c.errors, c.total_ns, c.self_ns, round(100.0 * c.self_ns / nullif(sum(c.self_ns) OVER (), 0), 2) AS percent, c.functions,
       (SELECT s.name FROM stat s WHERE s.session = c.session AND s.pid = c.pid AND coalesce(s.library, '') = c.library ORDER BY s.self_ns DESC, s.name LIMIT 1) AS most,
       t.bytes AS allocated_bytes, p.bytes AS peak_bytes
FROM caller c LEFT JOIN total t ON t.session = c.session AND t.pid = c.pid AND t.library = c.library
LEFT JOIN peak p ON p.session = c.session AND p.pid = c.pid AND p.library = c.library
