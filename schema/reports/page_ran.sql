-- What ran without the helpers of programs, and how many helpers there were. callers: threads that made recorded calls.
WITH p AS MATERIALIZED (
  SELECT process_id, helper FROM verdicts WHERE session = coalesce(:session, session)),
t AS MATERIALIZED (
  SELECT t.calls, p.helper FROM threads t JOIN p ON p.process_id = t.process_id)
SELECT (SELECT count(*) FROM p WHERE NOT helper) AS processes, (SELECT count(*) FROM p WHERE helper) AS helpers,
       (SELECT count(*) FROM t WHERE NOT helper) AS threads, (SELECT count(*) FROM t WHERE calls > 0) AS callers
