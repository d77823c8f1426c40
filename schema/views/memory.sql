-- Memory: its holders, its errors and how it grew.

CREATE VIEW allocations AS
SELECT a.id, p.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind, a.addr,
       iif(a.addr IS NULL, NULL, printf('0x%x', a.addr)) AS addr_hex, a.bytes AS size, a.ts AS start, a.ts_end AS "end",
       a.ts_end - a.ts AS lifetime, a.call AS alloc_call, a.call_end AS free_call,
       CASE k.memory WHEN 0 THEN 'device' WHEN 1 THEN 'host' END AS memory, f.name, a.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, t.stack, q.pid AS owner,
       iif(w.addr IS NULL, NULL, printf('0x%x', w.addr)) AS owner_addr
FROM alloc_ a
JOIN device_ d ON d.id = a.device
JOIN process_ p ON p.id = d.process
JOIN memory_kind_ k ON k.id = a.kind
LEFT JOIN function_ f ON f.id = a.fn
LEFT JOIN call_site_ s ON s.id = a.caller
LEFT JOIN call_stack_ t ON t.call = a.call
LEFT JOIN alloc_owner_ w ON w.alloc = a.id
LEFT JOIN process_ q ON q.id = w.process;

CREATE VIEW memory_timeline AS
SELECT m.ms, p.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind, m.used, m.peak, m.allocs, m.frees
FROM mem_bucket_ m
JOIN device_ d ON d.id = m.device
JOIN process_ p ON p.id = d.process
JOIN memory_kind_ k ON k.id = m.kind;

CREATE VIEW memory_stats AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind, m.used AS live_at_end, m.peak,
       m.peak_ts AS peak_at, m.allocs, m.frees, m.bytes AS allocated, m.unknown_frees
FROM mem_stat_ m
JOIN device_ d ON d.id = m.device
JOIN process_ p ON p.id = d.process
JOIN memory_kind_ k ON k.id = m.kind;

CREATE VIEW memory_libraries AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, iif(m.memory = 0, 'device', 'host') AS memory,
       nullif(m.library, '') AS library, m.used AS live_at_end, m.peak, m.peak_ts AS peak_at, m.allocs, m.frees,
       m.bytes AS allocated
FROM mem_holder_ m
JOIN device_ d ON d.id = m.device
JOIN process_ p ON p.id = d.process
WHERE m.library <> '*' AND m.allocs > 0;

CREATE VIEW memory_totals AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, iif(m.memory = 0, 'device', 'host') AS memory,
       m.used AS live_at_end, m.peak, m.peak_ts AS peak_at, m.allocs, m.frees, m.bytes AS allocated
FROM mem_holder_ m
JOIN device_ d ON d.id = m.device
JOIN process_ p ON p.id = d.process
WHERE m.library = '*';

CREATE VIEW bad_frees AS
SELECT e.id, p.session, p.pid,
       CASE e.fault
         WHEN 0 THEN 'freed already'
         WHEN 1 THEN 'never allocated'
         WHEN 2 THEN 'inside an allocation'
         ELSE 'refused' END AS fault,
       f.name,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, e.addr, printf('0x%x', e.addr) AS addr_hex, e.n AS repeats, e.ts AS start,
       e.ts_last AS last, e.call AS call_id, e.alloc AS alloc_id, a.bytes AS size, e.call_free AS first_free_call_id,
       g.name AS first_free, c.ts + c.dur AS first_free_at
FROM memory_fault_ e
JOIN process_ p ON p.id = e.process
JOIN function_ f ON f.id = e.fn
LEFT JOIN call_site_ s ON s.id = e.caller
LEFT JOIN alloc_ a ON a.id = e.alloc
LEFT JOIN call_ c ON c.id = e.call_free
LEFT JOIN function_ g ON g.id = c.fn;

-- bound: the ledger lacks allocations (at least), frees (at most) or both (about) that were not watched. others: the
-- possible holders of elsewhere.
CREATE VIEW ooms AS
WITH reason AS (
  SELECT process_id, topic, narrowed GLOB '*attach*' OR narrowed GLOB '*delay*' AS came_late,
         narrowed GLOB '*events*' OR narrowed GLOB '*clude*' OR narrowed GLOB '*drops*'
         OR narrowed GLOB '*return sites*' OR narrowed GLOB '*vanished*' OR narrowed GLOB '*refused*' AS calls_missing
  FROM watched
  WHERE NOT complete AND topic IN ('allocations', 'frees')),
doubt AS MATERIALIZED (  -- more: why the program may hold more than is known; less: frees may be missing
  SELECT process_id,
         max(CASE
               WHEN topic <> 'allocations' THEN NULL
               WHEN came_late THEN 'allocated before fade recorded'
               WHEN calls_missing THEN 'allocated by calls that were not recorded' END) AS more,
         max(CASE WHEN topic = 'frees' THEN calls_missing END) AS less
  FROM reason
  GROUP BY process_id),
moment AS MATERIALIZED (SELECT o.*, d.more, d.less FROM oom_ o LEFT JOIN doubt d ON d.process_id = o.process)
SELECT o.id, p.session, p.pid, nullif(d.ordinal, -1) AS device, iif(o.memory = 0, 'device', 'host') AS memory,
       o.ts AS start, f.name,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, o.call AS call_id, o.asked, o.used, o.free, o.total, o.told_ts AS told_at,
       max(o.total - o.free - o.used, 0) AS elsewhere,
       CASE WHEN o.less AND o.more IS NOT NULL THEN 'about' WHEN o.less THEN 'at most'
           WHEN o.more IS NOT NULL THEN 'at least' END AS bound,
       coalesce(o.more || ', ', '') || 'by other processes, pools or the runtime' AS others
FROM moment o
JOIN process_ p ON p.id = o.process
JOIN device_ d ON d.id = o.device
JOIN function_ f ON f.id = o.fn
LEFT JOIN call_site_ s ON s.id = o.caller;

CREATE VIEW oom_holders AS
SELECT h.oom AS oom_id, p.session, k.name AS kind, f.name,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, h.n, h.bytes, h.largest
FROM oom_holder_ h
JOIN oom_ o ON o.id = h.oom
JOIN process_ p ON p.id = o.process
JOIN memory_kind_ k ON k.id = h.kind
LEFT JOIN function_ f ON f.id = h.fn
LEFT JOIN call_site_ s ON s.id = h.caller;

-- Places whose live allocations grow with the program's turns: steps, else its outermost ranges of the most frequent
-- name (without the number at its end). An allocation belongs to the turn that began last. A place grows if its
-- remaining memory was allocated in three turns or more, in the first half of the turns and in the second.
CREATE VIEW memory_growth AS
WITH base AS (
  SELECT r.process, r.ts, rtrim(n.name, '0123456789 #:/_.-') AS name
  FROM range_ r
  JOIN range_name_ n ON n.id = r.name
  WHERE r.form = 0 AND r.depth = 0 AND r.process NOT IN (SELECT process FROM step_)),
most AS (
  SELECT process, name, max(n)
  FROM (SELECT process, name, count(*) AS n FROM base GROUP BY process, name)
  GROUP BY process),
turn AS (
  SELECT process, ts, row_number() OVER (PARTITION BY process ORDER BY ts) AS idx, 'range' AS word
  FROM base b
  WHERE EXISTS (SELECT 1 FROM most m WHERE m.process = b.process AND m.name = b.name)
  UNION ALL
  SELECT process, ts, idx, 'step'
  FROM step_),
number AS (SELECT process, max(idx) AS turns, min(word) AS word FROM turn GROUP BY process HAVING max(idx) >= 4),
event AS (
  SELECT process, ts, idx, NULL AS id, NULL AS device, NULL AS kind, NULL AS bytes, NULL AS fn, NULL AS caller,
         NULL AS stack
  FROM turn
  WHERE process IN (SELECT process FROM number)
  UNION ALL
  SELECT d.process, a.ts, NULL, a.id, a.device, a.kind, a.bytes, a.fn, a.caller, k.stack
  FROM alloc_ a
  JOIN device_ d ON d.id = a.device
  LEFT JOIN call_stack_ k ON k.call = a.call
  WHERE a.ts_end IS NULL AND a.kind IN (SELECT id FROM memory_kind_ WHERE memory IS NOT NULL)
    AND d.process IN (SELECT process FROM number)),
placed AS (
  SELECT *, max(idx) OVER (PARTITION BY process ORDER BY ts, id IS NOT NULL ROWS UNBOUNDED PRECEDING) AS turn
  FROM event)
SELECT p.session, p.pid, d.ordinal AS device, q.name AS kind, f.name, x.caller AS caller_id, x.stack, count(*) AS n,
       sum(x.bytes) AS size_bytes, count(DISTINCT x.turn) AS turns_with, m.turns, m.word AS turn,
       sum(x.bytes) / m.turns AS bytes_per_turn
FROM placed x
JOIN number m ON m.process = x.process
JOIN process_ p ON p.id = x.process
JOIN device_ d ON d.id = x.device
JOIN memory_kind_ q ON q.id = x.kind
LEFT JOIN function_ f ON f.id = x.fn
WHERE x.id IS NOT NULL AND x.turn IS NOT NULL
GROUP BY x.process, x.device, x.kind, x.fn, x.caller, x.stack
HAVING count(DISTINCT x.turn) >= 3 AND 2 * min(x.turn) <= m.turns + 1 AND 2 * max(x.turn) > m.turns;

CREATE VIEW memory_told AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, m.ts AS start, m.call AS call_id, m.free, m.total,
       m.total - m.free AS in_use, m.used AS ledger, m.total - m.free - m.used AS difference
FROM mem_told_ m
JOIN device_ d ON d.id = m.device
JOIN process_ p ON p.id = d.process;
