-- Functions by the time spent in them, over all ranks
-- about: One row for each function. Self time is without watched calls inside. --by job, host or rank has a row for
-- about: each of these.
-- sort: -total_ns
-- limit: 30
-- leave: self_ns api recordings p90_ns p99_ns max_ns avg_ns
-- none: no call was sent
-- column: name            text      function
-- column: api             text      hip, hiprtc, cuda or user
-- column: job             text      with --by job
-- column: host            text      with --by host
-- column: rank            count     with --by rank
-- column: calls           count     how often it was called
-- column: errors          count     calls whose result was not success
-- column: total_ns        net       time between entry and return, added up
-- column: self_ns         net       the same without watched calls that it made itself
-- column: avg_ns          net       total by calls
-- column: p50_ns          net       half of the calls took at most this long (from a histogram, about 20 % exact)
-- column: p90_ns          net       90 % of the calls took at most this long
-- column: p99_ns          net       99 of 100 calls took at most this long
-- column: max_ns          net       the longest call
-- column: percent         percent   total by the time of all calls that no other watched call made
-- column: recordings      count     that called it
SELECT name, api, job, host, rank, calls, errors, total_ns, self_ns, avg_ns, if(empty(sums), NULL, p[1]) AS p50_ns,
  if(empty(sums), NULL, p[2]) AS p90_ns, if(empty(sums), NULL, p[3]) AS p99_ns, longest AS max_ns,
  round(100 * total_ns / (
    SELECT sum(ifNull(total_ns, 0)) FROM call_stats
    WHERE ifNull(parent_function_id, 0) = 0 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
      /*? AND pid = :pid */
      /*? AND match(name, :name) */), 2) AS percent,
  recordings
FROM (
  SELECT name, api, job, host, rank, calls, errors, total_ns, self_ns, avg_ns, longest, recordings,
    histogram.1 AS found, histogram.2 AS sums, arrayCumSum(sums) AS until, toFloat64(until[-1]) AS whole,
    arrayMap(share -> arrayFirstIndex(u -> u >= share * whole, until), [0.5, 0.9, 0.99]) AS places,
    arrayMap(i -> if(found[i] = 0, 0, pow(2, 6 + intDiv(found[i], 2)) * (2 + found[i] % 2)), places) AS begins,
    arrayMap(i -> pow(2, 6 + intDiv(found[i] + 1, 2)) * (2 + (found[i] + 1) % 2), places) AS ends,
    arrayMap((i, begin, end, share, low, high) -> toInt64(round(least(greatest(begin + (end - begin)
      * (share * whole - until[i] + sums[i]) / sums[i], low), high))),
      places, begins, ends, [0.5, 0.9, 0.99], array(shortest_, shortest_, shortest_),
      array(longest_, longest_, longest_)) AS each,
    arrayMap((ns, known) -> if(ns < known, toInt64(0), ns), each, array(measurable_, measurable_, measurable_)) AS p
  FROM (
    SELECT name, category AS api, nullIf(by_job, '') AS job, nullIf(by_host, '') AS host, by_rank AS rank,
      sum(n) AS calls, sum(failed) AS errors, sum(total) AS total_ns, sum(own) AS self_ns,
      if(sum(timed) = 0, NULL, intDiv(sum(total), greatest(sum(timed), 1))) AS avg_ns, max(most) AS longest,
      uniqExact(recording) AS recordings, toFloat64(ifNull(min(shortest), 0)) AS shortest_,
      toFloat64(ifNull(max(most), 0)) AS longest_, ifNull(max(measurable), 0) AS measurable_,
      sumMap(buckets_, counts_) AS histogram
    FROM (
      SELECT name, category, recording, if(ifNull(:by, '') = 'job', job, substring(job, 1, 0)) AS by_job,
        if(ifNull(:by, '') = 'host', host, substring(host, 1, 0)) AS by_host,
        if(ifNull(:by, '') = 'rank', rank, nullIf(rank, rank)) AS by_rank,
        calls AS n, errors AS failed, toInt64(ifNull(total_ns, 0)) AS total, toInt64(ifNull(self_ns, 0)) AS own,
        calls - ifNull(counted_calls, 0) AS timed, max_ns AS most, min_ns AS shortest, least_ns AS measurable,
        arrayFilter(x -> x != '', splitByChar(',', buckets)) AS pairs,
        arrayMap(x -> toUInt16(splitByChar(':', x)[1]), pairs) AS buckets_,
        arrayMap(x -> toUInt64(splitByChar(':', x)[2]), pairs) AS counts_
      FROM call_stats
      WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND pid = :pid */
        /*? AND match(name, :name) */)
    GROUP BY name, category, by_job, by_host, by_rank))
