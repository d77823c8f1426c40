-- Steps of all ranks together: a row for each step that ranks made, by its number and name
-- about: A step lasts from the first rank that begins it to the last one that ends it. Calls, copies and memory are
--   those of all ranks.
-- hidden: a variant of steps
-- sort: step
-- limit: 40
-- leave: errors copies copied_bytes growth_bytes calls start_ns shortest_ns
-- none: no steps were recorded
-- topic: calls
-- record: --step 'range:*'
-- column: step          count     counts from 1 in each thread
-- column: name          text      the range, or the function between whose calls it lies
-- column: ranks         count     that made it (processes, if the recording has no ranks)
-- column: start_ns      time      when the first of them began it
-- column: duration_ns   duration  until the last of them ended it
-- column: longest_ns    duration  the step of the slowest rank
-- column: shortest_ns   duration  that of the fastest
-- column: slowest_rank  count     the slowest rank
-- column: calls         count     calls that returned in it
-- column: launches      count     kernels and graphs
-- column: copies        count     copies
-- column: copied_bytes  bytes     size of all of them
-- column: growth_bytes  bytes     GPU memory held at its end more than at its begin
-- column: errors        count     calls that failed
WITH mine AS MATERIALIZED (
  SELECT s.*, row_number() OVER (PARTITION BY s.session, s.name, s.idx ORDER BY s.duration DESC, s.rank) AS place
  FROM steps s
  WHERE true /*? AND s.session = :session */ /*? AND s.pid = :pid */ /*? AND s.tid = :tid */ /*? AND s.rank = :rank */
    /*? AND s.name REGEXP :name */ /*? AND s.start >= :from */ /*? AND s.start < :to */)
SELECT idx AS step, name, count(DISTINCT process_id) AS ranks, min(start) AS start_ns,
       max("end") - min(start) AS duration_ns, max(duration) AS longest_ns,
       min(duration) AS shortest_ns, max(iif(place = 1, rank, NULL)) AS slowest_rank,
       sum(calls) AS calls, sum(launches) AS launches, sum(copies) AS copies,
       sum(copied_bytes) AS copied_bytes, sum(growth_bytes) AS growth_bytes, sum(errors) AS errors
FROM mine GROUP BY session, name, idx
