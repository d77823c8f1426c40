-- Ranges that the program put around its own work (roctx, NVTX, torch.cuda.nvtx), by name
-- about: Times are those of the host between push and pop. What a range called: fade-query sql 'SELECT name, count(*)
--   FROM range_calls
-- about: WHERE range_id = 1 GROUP BY name', with an id of SELECT * FROM ranges.
-- sort: -total_ns
-- limit: 40
-- leave: unclosed min_ns pids p90_ns kind
-- none: the program put no ranges around its work (roctx, NVTX, torch.cuda.nvtx)
-- question: time
-- topic: ranges
-- events: marker
-- column: name      text      what the program calls it
-- column: kind      text      range (push and pop), start-stop, or mark (a moment)
-- column: n         count     how many
-- column: total_ns  duration  all together; ranges within ranges count in both
-- column: avg_ns    duration  of one
-- column: p50_ns    duration  half of them took at most this long (from a histogram, about 20 % exact)
-- column: p90_ns    duration  90 % took at most this long
-- column: min_ns    duration  the shortest
-- column: max_ns    duration  the longest
-- column: unclosed  count     that the program did not close: its thread, process or recording ended before
-- column: pids      count     processes that have it
SELECT name, kind, sum(n) AS n, CASE kind WHEN 'mark' THEN NULL ELSE sum(total_ns) END AS total_ns,
       CASE kind WHEN 'mark' THEN NULL ELSE sum(total_ns) / nullif(sum(n), 0) END AS avg_ns,
       CASE kind WHEN 'mark' THEN NULL ELSE fade_percentile(hist, 0.5, min_ns, max_ns) END AS p50_ns,
       CASE kind WHEN 'mark' THEN NULL ELSE fade_percentile(hist, 0.9, min_ns, max_ns) END AS p90_ns,
       CASE kind WHEN 'mark' THEN NULL ELSE min(min_ns) END AS min_ns, CASE kind
           WHEN 'mark' THEN NULL ELSE max(max_ns) END AS max_ns, sum(unclosed) AS unclosed, count(DISTINCT pid) AS pids
FROM range_stats
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND name REGEXP :name */
GROUP BY name, kind
