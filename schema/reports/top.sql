-- Functions by the time spent in them
-- about: One row for each function that was called, over all threads. Self time is without watched calls inside.
-- sort: -total_ns
-- limit: 30
-- leave: p90_ns p50_ns trend self_ns p99_ns api avg_ns max_ns
-- column: name      text      function
-- column: api       text      hip, hiprtc, cuda or user
-- column: calls     count     how often it was called
-- column: errors    count     calls whose result was not success
-- column: total_ns  duration  time between entry and return, added up
-- column: self_ns   duration  the same without watched calls that it made itself
-- column: avg_ns    duration  total by calls
-- column: p50_ns    duration  half of the calls took at most this long (from a histogram, about 20 % exact)
-- column: p90_ns    duration  nine of ten calls took at most this long
-- column: p99_ns    duration  99 of 100 calls took at most this long
-- column: max_ns    duration  the longest call
-- column: percent   percent   share of all self time
-- column: trend     trend     calls over time, from the start of the recording to its end
WITH stat AS (
  SELECT * FROM call_stats
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND tid = :tid */
    /*? AND name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
), rate AS (
  SELECT name, fade_trend(sec, calls, 0, (SELECT max(sec) FROM call_rate WHERE true /*? AND session = :session */)) AS trend
  FROM call_rate WHERE true /*? AND session = :session */ GROUP BY name
), by_name AS (
  SELECT name, category AS api, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns,
         sum(total_ns) / nullif(sum(calls), 0) AS avg_ns,
         fade_percentile(hist, 0.5, min_ns, max_ns) AS p50_ns, fade_percentile(hist, 0.9, min_ns, max_ns) AS p90_ns,
         fade_percentile(hist, 0.99, min_ns, max_ns) AS p99_ns, max(max_ns) AS max_ns,
         round(100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER (), 0), 2) AS percent
  FROM stat GROUP BY name, category
)
SELECT by_name.*, CASE WHEN :pid IS NULL AND :tid IS NULL THEN rate.trend END AS trend
FROM by_name LEFT JOIN rate USING (name)
