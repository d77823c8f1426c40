-- Every allocation, with its size and how long it lived
-- sort: start_ns
-- limit: 50
-- leave: owner free_call alloc_call stack library caller pid addr id
-- none: no memory was allocated
-- question: memory
-- topic: allocations
-- rows: of single calls
-- events: mem
-- column: id           id        of the allocation
-- column: pid          id        process
-- column: rank         count     of the process in a distributed job
-- column: device       id        as the process numbers it
-- column: kind         text      device, graph (by its launch), managed, array, physical (hipMemCreate), host (pinned),
--   registered, reserved (addresses only), imported (another's) or mapped (a view of it)
-- column: addr         text      address
-- column: size_bytes   bytes     as asked for; empty: another process's, and not known
-- column: start_ns     time      when allocated
-- column: lifetime_ns  duration  until it was freed; empty: live at the end
-- column: name         text      function that allocated
-- column: library      text      that called it
-- column: caller       text      where it was called from
-- column: stack        id        from where: fade-query stacks --stack ID; empty where no stack was taken
-- column: alloc_call   id        id of the call that allocated
-- column: free_call    id        id of the call that freed
-- column: owner        id        process whose memory it is, where that is another one of the recording
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT a.id, a.pid, (SELECT r.rank FROM rank_of r WHERE r.session = a.session AND r.pid = a.pid) AS rank,
       a.device, a.kind, a.addr_hex AS addr, a.size AS size_bytes, a.start AS start_ns, a.lifetime AS lifetime_ns,
       a.name, a.caller_library AS library, a.caller, a.stack, a.alloc_call, a.free_call, a.owner
FROM allocations a
WHERE true /*? AND a.start >= :from */ /*? AND a.start < :to */
  /*? AND a.session = :session */ /*? AND a.pid = :pid */
    /*? AND (a.session, a.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND a.device = :device */
  /*? AND a.name REGEXP :name */
