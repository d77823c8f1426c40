-- What a CUDA program wanted that ZLUDA does not have: calls answered "not supported", by who asked
-- about: The functions to write, or to avoid, so that the program runs. A result of 801 (CUDA_ERROR_NOT_SUPPORTED) counts, whatever else
-- about: the function can do. Where the library has several functions at one address, any of them may have been meant: or_names.
-- sort: -calls
-- limit: 40
-- leave: first_ns pid args or_names
-- column: name      text   function of CUDA
-- column: calls     count  how often it was answered so
-- column: caller    text   library or program that asked
-- column: first_ns  time   the first time
-- column: pid       id     process
-- column: or_names  text   names of the same code, up to 20; empty: the name is certain
-- column: args      text   arguments of the first call
WITH asked AS (
  SELECT name, session, pid, caller_library, sum(repeats) AS calls, min(start) AS first_ns, args
  FROM errors
  WHERE error = 'CUDA_ERROR_NOT_SUPPORTED' /*? AND session = :session */ /*? AND pid = :pid */ /*? AND tid = :tid */
  GROUP BY session, pid, name, caller_library
)
SELECT asked.name, asked.calls, coalesce(asked.caller_library, 'code without a file') AS caller, asked.first_ns, asked.pid,
       (SELECT group_concat(other_name, ' ') FROM (SELECT DISTINCT other_name FROM function_names n
        WHERE n.name = asked.name AND n.session = asked.session ORDER BY other_name LIMIT 20)) AS or_names, asked.args
FROM asked
WHERE true /*? AND asked.name REGEXP :name */
