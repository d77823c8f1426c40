-- Where the program waited for the GPU: synchronising calls and blocking copies, by who called
-- about: While a thread waits it cannot give the GPU new work. Functions are hipDeviceSynchronize,
--   hipStreamSynchronize,
-- about: hipEventSynchronize and copies without Async; of the latter a part is the copying itself. --by-line: by your
--   own line.
-- sort: -blocked_ns
-- limit: 30
-- leave: pids avg_ns longest_from kind
-- variant: by_line wait_lines
-- none: no call waited for the GPU
-- question: time
-- topic: waits
-- events: sync,copy
-- column: name          text      function
-- column: kind          text      sync, or copy (returns when the data is there)
-- column: caller        text      library or program that called
-- column: calls         count     how many
-- column: blocked_ns    net       in them, all threads added up
-- column: percent       percent   of the time that the processes ran that waited; more than 100 where several threads
--   waited at once
-- column: avg_ns        net       of one
-- column: max_ns        net       the longest
-- column: longest_from  text      where the longest was called
-- column: pids          count     processes
WITH mine AS (SELECT * FROM waits WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
                /*? AND name REGEXP :name */),
ran AS (SELECT sum(coalesce(p."end", s.end_ns - s.start_ns,
                            (SELECT max(c.ts) FROM cpu_sample_ c WHERE c.process = p.id)) - p.start) AS ns
        FROM processes p JOIN sessions s ON s.id = p.session
        WHERE p.id IN (SELECT process_id FROM mine))
SELECT name, kind, coalesce(caller_library, 'code without a file') AS caller,
       sum(calls) AS calls, sum(blocked_ns) AS blocked_ns,
       round(100.0 * sum(blocked_ns) / nullif((SELECT ns FROM ran), 0), 2) AS percent,
       sum(blocked_ns) / nullif(sum(calls), 0) AS avg_ns, max(max_ns) AS max_ns,
       caller AS longest_from, count(DISTINCT pid) AS pids
FROM mine GROUP BY name, kind, caller_library
