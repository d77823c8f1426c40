-- Copies between host and device.

CREATE VIEW copies AS
SELECT y.call AS id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, f.name, y.kind,
       CASE y.kind
         WHEN 0 THEN 'h2h'
         WHEN 1 THEN 'h2d'
         WHEN 2 THEN 'd2h'
         WHEN 3 THEN 'd2d'
         WHEN 4 THEN 'default'
         WHEN -1 THEN 'set'
         WHEN 1024 THEN 'd2d'
         ELSE 'other' END AS direction,
       y.bytes AS size, y.src, iif(y.src IS NULL, NULL, printf('0x%x', y.src)) AS src_hex, y.dst,
       iif(y.dst IS NULL, NULL, printf('0x%x', y.dst)) AS dst_hex, st.handle AS stream, y.stream AS stream_id,
       CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id,
       CASE y.memory
         WHEN 1 THEN iif(p.id IN (SELECT process_id
                                  FROM watched
                                  WHERE topic = 'allocations' AND NOT complete
                                    AND (narrowed GLOB '*attach*' OR narrowed GLOB '*delay*' OR narrowed GLOB '*events*'
                                         OR narrowed GLOB '*clude*' OR narrowed GLOB '*drops*'
                                         OR narrowed GLOB '*refused*')), NULL, 'pageable')
         WHEN 2 THEN 'pinned'
         WHEN 3 THEN 'managed' END AS memory, k.stack
FROM copy_ y
JOIN call_ c ON c.id = y.call
JOIN thread_ t ON t.id = c.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = c.fn
LEFT JOIN stream_ st ON st.id = y.stream
LEFT JOIN call_stack_ k ON k.call = y.call;

CREATE VIEW copy_stats AS
SELECT p.session, p.pid, f.name, y.kind,
       CASE y.kind
         WHEN 0 THEN 'h2h'
         WHEN 1 THEN 'h2d'
         WHEN 2 THEN 'd2h'
         WHEN 3 THEN 'd2d'
         WHEN 4 THEN 'default'
         WHEN -1 THEN 'set'
         WHEN 1024 THEN 'd2d'
         ELSE 'other' END AS direction,
       instr(f.name, 'Async') > 0 AS async, y.n, y.bytes, y.bytes / y.n AS avg_bytes, y.max_bytes,
       y.small AS small_lt_64k,
       iif(y.host_ns < y.n * coalesce(k.least, 0), 0, y.host_ns) AS host_ns
FROM copy_stat_ y
JOIN process_ p ON p.id = y.process
JOIN function_ f ON f.id = y.fn
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

-- smallest, largest: of the row's range of sizes.
CREATE VIEW copy_sizes AS
SELECT p.session, p.pid, y.process AS process_id, f.name,
       CASE y.kind
         WHEN 0 THEN 'h2h'
         WHEN 1 THEN 'h2d'
         WHEN 2 THEN 'd2h'
         WHEN 3 THEN 'd2d'
         WHEN 4 THEN 'default'
         WHEN -1 THEN 'set'
         ELSE 'other' END AS direction,
       CASE y.memory
         WHEN 1 THEN iif(p.id IN (SELECT process_id
                                  FROM watched
                                  WHERE topic = 'allocations' AND NOT complete
                                    AND (narrowed GLOB '*attach*' OR narrowed GLOB '*delay*' OR narrowed GLOB '*events*'
                                         OR narrowed GLOB '*clude*' OR narrowed GLOB '*drops*'
                                         OR narrowed GLOB '*refused*')), NULL, 'pageable')
         WHEN 2 THEN 'pinned'
         WHEN 3 THEN 'managed' END AS memory,
       instr(f.name, 'Async') > 0 AS async, iif(y.bucket = 0, 0, 1 << (y.bucket - 1)) AS smallest,
       iif(y.bucket = 0, 0, iif(y.bucket < 63, (1 << y.bucket) - 1, 9223372036854775807)) AS largest, y.n, y.bytes,
       y.max_bytes, iif(y.host_ns < y.n * coalesce(k.least, 0), 0, y.host_ns) AS host_ns,
       y.bucket <= 16 AS small
FROM copy_size_ y
JOIN process_ p ON p.id = y.process
JOIN function_ f ON f.id = y.fn
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

CREATE VIEW copy_trips AS
SELECT p.session, p.pid, t.device_addr, printf('0x%x', t.device_addr) AS device_addr_hex, t.host_addr,
       printf('0x%x', t.host_addr) AS host_addr_hex, t.bytes AS size, t.trips, t.launches,
       iif(t.host_ns < 2 * t.trips * coalesce(k.least, 0), 0, t.host_ns) AS host_ns,
       t.ts AS first, t.ts_last AS last, t.call AS call_id
FROM copy_trip_ t
JOIN process_ p ON p.id = t.process
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';
