-- What threads did outside HIP calls: lines of Python, by how often a sample found them
-- about: fade-run --sample HZ looks so many times a second at each thread that has made a watched call and is in none.
--   The line is the innermost one
-- about: outside of packages and the standard library. Threads that sleep are looked at, too.
-- sort: -samples
-- limit: 30
-- leave: file first_ns last_ns threads
-- none: no samples were taken
-- question: time
-- topic: file
-- record: --sample 50
-- column: line      text     the line, with the name of its file
-- column: function  text     its function
-- column: pid       id       process
-- column: rank      count    of the process in a distributed job
-- column: samples   count    looks that found a thread there
-- column: percent   percent  of all samples of the process
-- column: threads   count    threads that were found there
-- column: first_ns  time     the first look that did
-- column: last_ns   time     the last one
-- column: file      text     path of the file
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT user_line AS line, function, pid, (SELECT r.rank FROM rank_of r WHERE r.session = samples.session
                                             AND r.pid = samples.pid) AS rank,
       count(*) AS samples, round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY process_id), 2) AS percent,
       count(DISTINCT thread_id) AS threads, min(start) AS first_ns, max(start) AS last_ns, file
FROM samples
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND tid = :tid */ /*? AND (user_line REGEXP :name OR function REGEXP :name) */
  /*? AND start >= :from */ /*? AND start < :to */
GROUP BY process_id, file, line, function
