-- Which library called the GPU's functions, how often and how long, and the memory it allocated
-- about: The library is the one that holds the calling instruction. Versions of libraries: fade-query --on URL diff.
-- sort: -self_ns
-- limit: 40
-- leave: job pid functions errors total_ns
-- none: no library called a watched function
-- column: job             text      its job
-- column: host            text      its machine
-- column: library          text      path of the calling library or program; (no library): memory that belongs to none
-- column: pid              id        process
-- column: rank             count     of the process in a distributed job
-- column: calls            count     calls that it made
-- column: errors           count     of them failed
-- column: total_ns         net       time between entry and return
-- column: self_ns          net       the same without watched calls inside
-- column: percent          percent   share of all self time
-- column: functions        count     how many different functions it called
-- column: most             text      the function that took most of the time
SELECT job, host, if(place = '', '(no library)', place) AS library, pid, rank, sum(n) AS calls, sum(failed) AS errors,
  sum(total) AS total_ns, sum(own) AS self_ns,
  round(100 * sum(own) / (
    SELECT sum(ifNull(self_ns, 0)) FROM caller_stats
    WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND pid = :pid */
      /*? AND match(name, :name) */), 2) AS percent,
  uniqExact(name) AS functions, arraySort(groupArray((-own, name)))[1].2 AS most
FROM (
  SELECT job, host, recording, process_id, pid, rank, name, library AS place, calls AS n, errors AS failed,
    toInt64(ifNull(total_ns, 0)) AS total, toInt64(ifNull(self_ns, 0)) AS own
  FROM caller_stats
  WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND pid = :pid */
    /*? AND match(name, :name) */)
GROUP BY job, host, recording, process_id, pid, rank, place
