-- Functions by the time spent in them
-- about: One row for each function that was called, over all threads. Self time is without watched calls inside.
-- about: Times are without fade's own cost, as it was measured (report overhead). ~0: less than can be measured beside
--   it.
-- sort: -total_ns
-- limit: 30
-- variant: gpu top_gpu
-- leave: p90_ns p50_ns trend self_ns p99_ns api avg_ns max_ns
-- none: no call was recorded
-- question: time
-- topic: calls
-- column: name      text      function
-- column: api       text      hip, hiprtc, cuda or user
-- column: calls     count     how often it was called
-- column: errors    count     calls whose result was not success
-- column: total_ns  net       time between entry and return, added up
-- column: self_ns   net       the same without watched calls that it made itself
-- column: avg_ns    net       total by calls
-- column: p50_ns    net       half of the calls took at most this long (from a histogram, about 20 % exact)
-- column: p90_ns    net       90 % of the calls took at most this long
-- column: p99_ns    net       99 of 100 calls took at most this long
-- column: max_ns    net       the longest call
-- column: percent   percent   total by the time of all calls that no other watched call made: more than 100 in all
--   where functions call others
-- column: trend     trend     calls over time, from the start of the recording to its end
WITH stat AS (
  SELECT * FROM call_stats
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
    /*? AND name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
), rate AS (
  SELECT name, fade_trend(sec, calls, 0, (SELECT max(sec) FROM call_rate
                                          WHERE true /*? AND session = :session */)) AS trend
  FROM call_rate WHERE true /*? AND session = :session */ GROUP BY name
), by_name AS (
  SELECT name, category AS api, sum(calls) AS calls, sum(errors) AS errors,
         sum(total_ns) AS total_ns, sum(self_ns) AS self_ns,
         sum(total_ns) / nullif(sum(calls - counted_calls), 0) AS avg_ns,
         fade_percentile(hist, 0.5, min_ns, max_ns) AS p50_ns, fade_percentile(hist, 0.9, min_ns, max_ns) AS p90_ns,
         fade_percentile(hist, 0.99, min_ns, max_ns) AS p99_ns, max(max_ns) AS max_ns, max(least_ns) AS least_ns,
         round(100.0 * sum(total_ns) / nullif((SELECT sum(total_ns) FROM stat WHERE parent_function_id = 0), 0),
               2) AS percent
  FROM stat GROUP BY name, category
), told AS (
  SELECT name, api, calls, errors, total_ns, self_ns, avg_ns, iif(p50_ns < least_ns, 0, p50_ns) AS p50_ns,
         iif(p90_ns < least_ns, 0, p90_ns) AS p90_ns,
         iif(p99_ns < least_ns, 0, p99_ns) AS p99_ns, max_ns, percent
  FROM by_name
)
SELECT told.*, CASE WHEN :pid IS NULL AND :rank IS NULL AND :tid IS NULL THEN rate.trend END AS trend
FROM told LEFT JOIN rate USING (name)
