-- Which library called which API: calls and time, of all processes together
-- about: The library is the one that holds the calling instruction. fade-run --summary=libraries prints this table at
--   the end.
-- sort: -self_ns
-- limit: 40
-- leave: functions errors
-- none: no library called a watched function
-- question: time
-- topic: calls
-- column: library    text     path of the calling library or program; (no library): memory that belongs to none
-- column: api        text     the API that it called: hip, hiprtc, rocblas ...
-- column: calls      count    calls that it made
-- column: errors     count    of them failed
-- column: functions  count    how many different functions it called
-- column: total_ns   net      time between entry and return
-- column: self_ns    net      the same without watched calls inside
-- column: percent    percent  share of all self time
SELECT coalesce(library, '(no library)') AS library, category AS api, sum(calls) AS calls, sum(errors) AS errors,
  count(DISTINCT name) AS functions, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns,
  round(100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER (), 0), 2) AS percent
FROM caller_stats
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
  /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
GROUP BY library, category
