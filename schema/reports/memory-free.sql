-- Free memory reported by HIP, compared with what the program allocated
-- about: The difference is memory of other processes, of the runtime itself (kernels, scratch, rounding up), of pools,
--   and allocated before fade attached.
-- sort: start_ns
-- limit: 60
-- leave: call pid
-- none: the program did not ask for free memory (hipMemGetInfo)
-- question: memory
-- topic: queries
-- rows: of single calls
-- events: device
-- column: start_ns          time     when it was asked
-- column: pid               id       process
-- column: rank              count    of the process in a distributed job
-- column: device            id       as the process numbers it
-- column: total_bytes       bytes    of the device
-- column: free_bytes        bytes    as the runtime said
-- column: in_use_bytes      bytes    total less free
-- column: ledger_bytes      bytes    what the process had allocated then, as fade counts it
-- column: difference_bytes  bytes    in use beyond that
-- column: percent           percent  the difference, of the total
-- column: call              id       id of the call
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT start AS start_ns, pid, (SELECT r.rank FROM rank_of r WHERE r.session = memory_told.session
                                   AND r.pid = memory_told.pid) AS rank, device, total AS total_bytes,
       free AS free_bytes, in_use AS in_use_bytes, ledger AS ledger_bytes, difference AS difference_bytes,
       round(100.0 * difference / nullif(total, 0), 1) AS percent, call_id AS call
FROM memory_told
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND device = :device */
