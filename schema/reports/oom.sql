-- Out of memory: who held what when the allocation failed
-- about: A row for each place that held memory when an allocation failed with hipErrorOutOfMemory, for the first of
--   them. The row "(elsewhere)" is the rest that hipMemGetInfo reported in use: other processes, the runtime itself,
--   pools, or memory allocated before fade attached.
-- limit: 60
-- leave: call largest_bytes kind n pid free_bytes used_bytes caller
-- none: no allocation failed for want of memory
-- question: memory
-- topic: allocations
-- rows: of single calls
-- events: mem
-- column: oom            id       number of the failure
-- column: start_ns       time     when it failed
-- column: pid            id       process
-- column: rank           count    of the process in a distributed job
-- column: device         id       as the process numbers it
-- column: failed         text     function that failed
-- column: asked_bytes    bytes    what it asked for; a launch of a graph: the most that the graph has at once
-- column: used_bytes     bytes    held by the process then, as fade counts it
-- column: free_bytes     bytes    free by the last answer of hipMemGetInfo; the runtime asks itself before it gives up
-- column: holder         text     function that allocated what was held
-- column: kind           text     device, graph, managed, array, physical (hipMemCreate), host (pinned) or registered
-- column: library        text     that called it
-- column: caller         text     where it was called from
-- column: n              count    allocations
-- column: bytes          bytes    held
-- column: largest_bytes  bytes    the largest of them
-- column: call           id       id of the call that failed
WITH holder AS (
  SELECT oom_id, coalesce(name, '(many small ones)') AS holder, kind, caller_library AS library,
         caller, n, bytes, largest FROM oom_holders
  UNION ALL
  SELECT id, '(elsewhere)', NULL, NULL, NULL, NULL, elsewhere, NULL FROM ooms WHERE memory = 'device' AND elsewhere > 0)
SELECT o.id AS oom, o.start AS start_ns, o.pid,
       (SELECT max(r.rank) FROM process_ranks r WHERE r.session = o.session AND r.pid = o.pid) AS rank,
       o.device, o.name AS failed, o.asked AS asked_bytes, o.used AS used_bytes,
       o.free AS free_bytes, h.holder, h.kind, h.library, h.caller,
       h.n, h.bytes, h.largest AS largest_bytes, o.call_id AS call
FROM ooms o LEFT JOIN holder h ON h.oom_id = o.id
WHERE true /*? AND o.session = :session */ /*? AND o.pid = :pid */
    /*? AND (o.session, o.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND o.device = :device */ /*? AND o.name REGEXP :name */
ORDER BY o.id, h.bytes DESC, h.caller
