-- The longest times without any watched GPU call, and what came before and after
-- about: No thread of the process was in a watched call. What the GPU did meanwhile cannot be seen: it may have had
--   work left from before.
-- about: At most a hundred are kept per process.
-- sort: -duration_ns
-- limit: 20
-- leave: end_ns after_from before_from percent pid line
-- none: there was no gap between calls
-- question: time
-- topic: calls
-- rows: of single calls
-- column: pid          id        process
-- column: rank         count     of the process in a distributed job
-- column: start_ns     time      when the last call before had returned
-- column: end_ns       time      when the next call was entered
-- column: duration_ns  duration  between them
-- column: percent      percent   of the time that the process ran
-- column: cpu_ns       duration  CPU time of the process meanwhile, from samples; empty where these are too far apart
-- column: before       text      last function called before; (begin): the process, or the recording of it, began
-- column: before_from  text      library or program that called it
-- column: after        text      next function called; (end): the process, or the recording, ended
-- column: after_from   text      library or program that called it
-- column: in_range     text      deepest range (roctx, NVTX) of the program that lasted through at least half of it
-- column: line         text      your own line (--skip-frames) of the next call, where its stack was recorded
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid),
mine AS (SELECT * FROM idle_times WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
           /*? AND "end" > :from */ /*? AND start < :to */),
marked AS MATERIALIZED (
  SELECT i.process_id, i.start, r.name,
         row_number() OVER (PARTITION BY i.process_id, i.start ORDER BY r.depth DESC, r.dur) AS place
  FROM (SELECT * FROM range_ WHERE form = 0 AND dur >= (SELECT min(duration) / 2 FROM mine)) r
  CROSS JOIN mine i ON i.process_id = r.process AND 2 * (min(i."end", r.ts + r.dur) - max(i.start, r.ts)) >= i.duration)
SELECT i.pid, (SELECT r.rank FROM rank_of r WHERE r.session = i.session AND r.pid = i.pid) AS rank,
       i.start AS start_ns, i."end" AS end_ns, i.duration AS duration_ns,
       round(100.0 * i.duration / nullif((SELECT coalesce(p."end", s.end_ns - s.start_ns) - p.start FROM processes p
                                            JOIN sessions s ON s.id = p.session WHERE p.id = i.process_id), 0),
             2) AS percent,
       i.cpu_ns, CASE WHEN i.before_call_id IS NULL THEN '(begin)' ELSE coalesce(b.name, '(not stored)') END AS before,
       q.library AS before_from,
       CASE WHEN i.after_call_id IS NULL THEN '(end)' ELSE coalesce(a.name, '(not stored)') END AS after,
       s.library AS after_from,
       (SELECT n.name FROM marked m JOIN range_name_ n ON n.id = m.name WHERE m.process_id = i.process_id
           AND m.start = i.start AND m.place = 1) AS in_range,
       (SELECT u.file_line FROM call_stack_ k JOIN user_lines u ON u.stack = k.stack
        WHERE k.call = i.after_call_id) AS line
FROM mine i
LEFT JOIN call_ bc ON bc.id = i.before_call_id LEFT JOIN function_ b ON b.id = bc.fn
  LEFT JOIN call_site_ q ON q.id = bc.caller
LEFT JOIN call_ ac ON ac.id = i.after_call_id LEFT JOIN function_ a ON a.id = ac.fn
  LEFT JOIN call_site_ s ON s.id = ac.caller
