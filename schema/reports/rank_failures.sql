-- Ranks that failed, in order of time
-- about: A rank failed if its process ended with a status or by a signal. Of several processes with the environment of
--   a rank the one with the most calls counts. Launchers end the other ranks after the first failure.
-- hidden: a part of the page of ranks
-- sort: failed_ns
-- limit: 64
-- leave: error_ns pid
-- column: rank        count  of the job
-- column: pid         id     its process
-- column: failed_ns   time   when the process ended; empty: it ended well, or fade did not see its end
-- column: exit_code   id     status that it ended with
-- column: exit_signal id     signal that ended it
-- column: call        text   its first call that failed, if one did
-- column: error       text   result of that call
-- column: error_ns    time   when that call failed
WITH member AS MATERIALIZED (
  SELECT j.shift, r.rank, r.process_id, row_number() OVER (PARTITION BY j.job, r.rank
    ORDER BY coalesce(t.calls, 0) DESC, r.process_id) AS place
  FROM process_ranks r JOIN jobs j ON j.session = r.session
    LEFT JOIN (SELECT process_id, sum(calls) AS calls FROM threads GROUP BY process_id) t
    ON t.process_id = r.process_id
  WHERE true /*? AND r.session = :session */ /*? AND r.rank = :rank */
), bad_call AS MATERIALIZED (
  SELECT process_id, name, coalesce(error, code) AS error, start, min(id) FROM failures WHERE NOT normal
  GROUP BY process_id
)
SELECT m.rank, p.pid, iif(p.exit_code > 0 OR p.exit_signal > 0, p."end" + m.shift, NULL) AS failed_ns,
       iif(p.exit_code > 0, p.exit_code, NULL) AS exit_code, nullif(p.exit_signal, 0) AS exit_signal, b.name AS call,
       b.error, b.start + m.shift AS error_ns
FROM member m JOIN processes p ON p.id = m.process_id LEFT JOIN bad_call b ON b.process_id = m.process_id
WHERE m.place = 1 AND (p.exit_code > 0 OR p.exit_signal > 0 OR b.name IS NOT NULL)
