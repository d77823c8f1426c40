-- What a CUDA program wanted that ZLUDA does not have: calls answered "not supported", by who asked; NVML's too
-- about: The functions to write, or to avoid, so that the program runs. A result of 801 (CUDA_ERROR_NOT_SUPPORTED), for
--   NVML 3, counts, whatever else
-- about: the function can do. Several functions may share one piece of code; then any of them may have been meant:
--   or_more, or_names.
-- sort: -calls
-- limit: 40
-- leave: first_ns args or_names pid
-- none: no CUDA or NVML call was answered "not supported": the program did not use ZLUDA, or needed nothing that it
--   lacks
-- partly: no CUDA or NVML call that was recorded was answered "not supported"
-- question: cuda
-- topic: gaps
-- column: name      text   function of CUDA or NVML
-- column: or_more   count  further names of the same code; empty: the name is certain
-- column: calls     count  how often it was answered so
-- column: caller    text   library or program that asked
-- column: first_ns  time   the first time
-- column: pid       id     process
-- column: rank      count  of the process in a distributed job
-- column: or_names  text   these further names, up to 20
-- column: args      text   arguments of the first call
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid),
asked AS (
  SELECT name, session, pid, caller_library, sum(repeats) AS calls, min(start) AS first_ns, args
  FROM errors
  WHERE error IN ('CUDA_ERROR_NOT_SUPPORTED', 'NVML_ERROR_NOT_SUPPORTED')
    /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  GROUP BY session, pid, name, caller_library
)
SELECT asked.name, nullif((SELECT count(DISTINCT other_name) FROM function_names n
                           WHERE n.name = asked.name AND n.session = asked.session), 0) AS or_more,
       asked.calls, coalesce(asked.caller_library, 'code without a file') AS caller, asked.first_ns,
       asked.pid, (SELECT r.rank FROM rank_of r WHERE r.session = asked.session AND r.pid = asked.pid) AS rank,
       (SELECT group_concat(other_name, ' ') FROM (SELECT DISTINCT other_name FROM function_names n
        WHERE n.name = asked.name AND n.session = asked.session ORDER BY other_name LIMIT 20)) AS or_names, asked.args
FROM asked
WHERE true /*? AND asked.name REGEXP :name */
