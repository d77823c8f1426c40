-- The functions with the most time, as the summary shows them
-- hidden: a part of the summary
-- sort: -total_ns
-- limit: 10
-- leave: avg_ns max_ns errors
-- column: name      text      function
-- column: calls     count     how often it was called
-- column: errors    count     calls whose result was not success
-- column: total_ns  net       time between entry and return, added up
-- column: avg_ns    net       total by calls
-- column: max_ns    net       the longest call
-- column: percent   percent   total by the time of all calls that no other watched call made
SELECT name, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns,
       sum(total_ns) / nullif(sum(calls - counted_calls), 0) AS avg_ns,
       max(max_ns) AS max_ns,
       round(100.0 * sum(total_ns) / nullif(sum(sum(total_ns) FILTER (WHERE parent_function_id = 0)) OVER (), 0),
             2) AS percent
FROM call_stats
WHERE true /*? AND session = :session */
GROUP BY name, category
