-- Steps of each thread: how many, how long usually, how many slow ones
-- hidden: a part of the page of steps
-- sort: -total_ns
-- limit: 10
-- column: name          text      all names if they are three or fewer, else the first step's and the number of others
-- column: pid           id        process
-- column: tid           id        thread
-- column: steps         count     that the program ended
-- column: median_ns     duration  half of them took at most this long
-- column: p90_ns        duration  90 % took at most this long
-- column: min_ns        duration  the shortest
-- column: max_ns        duration  the longest
-- column: total_ns      duration  all together
-- column: slow          count     that took more than 1.5 times the median
-- column: slowest       count     step of that number; empty: none was slow
-- column: usual         count     the step that is nearest to the median
-- column: unfinished    count     that were open when their thread, process or the recording ended
-- column: errors        count     calls in steps that failed
-- column: growth_bytes  bytes     GPU memory that steps left behind, all together
-- column: thread_id     id        row of threads
-- column: rank          count     of the process in a distributed job
WITH ranked AS (
  SELECT s.*, CASE WHEN complete THEN row_number() OVER (PARTITION BY thread_id,
                                                         complete ORDER BY duration, idx) END AS place,
         sum(complete) OVER (PARTITION BY thread_id) AS n
  FROM steps s WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND tid = :tid */ /*? AND name REGEXP :name */
)
SELECT CASE WHEN count(DISTINCT name) <= 3 THEN replace(group_concat(DISTINCT name), ',', ', ')
            ELSE max(CASE WHEN idx = 1 THEN name END) || ' and ' || (count(DISTINCT name) - 1) ||
       ' other names' END AS name, max(pid) AS pid, max(tid) AS tid, sum(complete) AS steps,
       max(median_ns) AS median_ns,
       max(CASE WHEN place = (9 * n + 9) / 10 THEN duration END) AS p90_ns,
       min(CASE WHEN complete THEN duration END) AS min_ns, max(CASE WHEN complete THEN duration END) AS max_ns,
       sum(CASE WHEN complete THEN duration END) AS total_ns, sum(slow) AS slow,
       max(CASE WHEN slow AND place = n THEN idx END) AS slowest,
       max(CASE WHEN place = (n + 1) / 2 THEN idx END) AS usual, count(*) - sum(complete) AS unfinished,
       sum(errors) AS errors, sum(growth_bytes) AS growth_bytes, thread_id, max(rank) AS rank
FROM ranked GROUP BY thread_id
