-- Functions by the time spent in them, over all ranks
-- about: One row for each function. Self time is without watched calls inside. --by job, host or rank has a row for
-- about: each of these.
-- sort: -total_ns
-- limit: 30
-- leave: self_ns api recordings max_ns avg_ns
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
-- column: max_ns          net       the longest call
-- column: percent         percent   total by the time of all calls that no other watched call made
-- column: recordings      count     that called it
SELECT name, category AS api, nullIf(by_job, '') AS job, nullIf(by_host, '') AS host, by_rank AS rank, sum(n) AS calls,
  sum(failed) AS errors, sum(total) AS total_ns, sum(own) AS self_ns,
  if(sum(timed) = 0, NULL, intDiv(sum(total), greatest(sum(timed), 1))) AS avg_ns, max(longest) AS max_ns,
  round(100 * sum(total) / (
    SELECT sum(ifNull(total_ns, 0)) FROM call_stats
    WHERE ifNull(parent_function_id, 0) = 0 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
      /*? AND pid = :pid */
      /*? AND match(name, :name) */), 2) AS percent,
  uniqExact(recording) AS recordings
FROM (
  SELECT name, category, recording, if(ifNull(:by, '') = 'job', job, substring(job, 1, 0)) AS by_job,
    if(ifNull(:by, '') = 'host', host, substring(host, 1, 0)) AS by_host,
    if(ifNull(:by, '') = 'rank', rank, nullIf(rank, rank)) AS by_rank,
    calls AS n, errors AS failed, toInt64(ifNull(total_ns, 0)) AS total, toInt64(ifNull(self_ns, 0)) AS own,
    calls - ifNull(counted_calls, 0) AS timed, max_ns AS longest
  FROM call_stats
  WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND pid = :pid */
    /*? AND match(name, :name) */)
GROUP BY name, category, by_job, by_host, by_rank
