-- Memory of GPUs by the allocator that holds it: taken from HIP, given out, and lying idle
-- about: reserved_bytes is what the library holds from HIP, by fade's ledger. PyTorch's caching allocator takes large
--   pieces and gives out parts of them. fade-run -e all,ops-memory records each part, so the columns behind say what
--   PyTorch gave out. Without it they are empty: not known.
-- about: Without those calls, the sizes that PyTorch asks HIP for tell its segments (basis: from sizes): 2 MiB for
--   blocks up to 1 MiB, 20 MiB for those below 10 MiB, and else multiples of 2 MiB. That is an inference, and it says
--   nothing about the blocks inside.
-- about: idle_bytes is reserved and not given out. If an allocation fails although idle_bytes are many,
--   largest_gap_bytes says why: no piece of the idle memory is larger.
-- sort: -peak_bytes
-- limit: 40
-- leave: told_bytes blocks gaps idle_percent small_segment_bytes segments
-- none: no memory of a GPU was allocated
-- question: memory
-- topic: allocations
-- rows: of single calls
-- record: -e all,ops-memory
-- column: pid                   id       process
-- column: device                id       as the process numbers it
-- column: holder                text     PyTorch, RCCL, MIOpen, BLAS, Triton; else the library that called HIP, or
--   program
-- column: reserved_bytes        bytes    taken from HIP and not freed when the process or the recording ended
-- column: peak_bytes            bytes    the most it had taken at once
-- column: allocated_bytes       bytes    of reserved_bytes, given out; empty: not known
-- column: peak_allocated_bytes  bytes    the most that was given out at once
-- column: idle_bytes            bytes    reserved and not given out
-- column: idle_percent          percent  share of that in reserved_bytes
-- column: largest_gap_bytes     bytes    the largest piece of it; empty: not known
-- column: gaps                  count    pieces of it
-- column: blocks                count    parts that are given out
-- column: told_bytes            bytes    reserved, as PyTorch says itself; more or less than reserved_bytes if calls of
--   HIP were not recorded
-- column: basis                 text     told: PyTorch told its blocks; from sizes: segments inferred from sizes; other
--   sizes: not those of its caching allocator; empty: only the ledger
-- column: segments              count    pieces of reserved_bytes with the sizes of its caching allocator; empty: not
--   inferred
-- column: segment_bytes         bytes    of reserved_bytes, in these pieces
-- column: small_segment_bytes   bytes    of that, in pieces of 2 MiB, which serve blocks up to 1 MiB
WITH of_library(pattern, holder) AS (  -- the first that fits
  VALUES ('libc10_*', 'PyTorch'), ('libtorch*', 'PyTorch'), ('librccl*', 'RCCL'), ('libMIOpen*', 'MIOpen'),
    ('librocblas*', 'BLAS'), ('libhipblas*', 'BLAS'), ('libcublas*', 'BLAS'), ('libtriton*', 'Triton'),
    ('librocsolver*', 'SOLVER'), ('librocfft*', 'FFT'), ('librocsparse*', 'SPARSE')
), held AS MATERIALIZED (
  SELECT m.session, m.pid, m.device, m.live_at_end, m.peak,
    substr(m.library, 1 + length(rtrim(m.library, replace(m.library, '/', '')))) AS file
  FROM memory_libraries m
  WHERE m.memory = 'device' /*? AND m.session = :session */ /*? AND m.pid = :pid */ /*? AND m.device = :device */
), holding AS MATERIALIZED (
  SELECT h.session, h.pid, h.device, coalesce((SELECT o.holder FROM of_library o WHERE h.file GLOB o.pattern),
    CASE WHEN h.file GLOB '*.so*' THEN h.file ELSE 'program' END) AS holder, h.file, h.live_at_end, h.peak
  FROM held h
), teller AS MATERIALIZED (
  SELECT id FROM functions WHERE "group" = 'ops-memory'
), told AS MATERIALIZED (  -- by PyTorch: a device is its type and its index; 0 is the host
  SELECT c.session, c.pid, c.id, json_extract(c.args, '$.ptr') AS at, json_extract(c.args, '$.alloc_size') AS size,
    json_extract(c.args, '$.total_allocated') AS allocated, json_extract(c.args, '$.total_reserved') AS reserved,
    json_extract(c.args, '$.device') >> 8 AS device, json_extract(c.args, '$.device') & 255 AS type
  FROM (SELECT 1 FROM teller LIMIT 1) CROSS JOIN calls c  -- without such functions no call is read
  WHERE c.function_id IN (SELECT id FROM teller)
), last_told AS MATERIALIZED (
  SELECT session, pid, device, max(allocated) AS peak_allocated, max(id) AS id FROM told WHERE type <> 0
  GROUP BY session, pid, device
), given AS MATERIALIZED (  -- blocks at the end
  SELECT session, pid, device, at, size FROM (
    SELECT t.*, row_number() OVER (PARTITION BY session, pid, at ORDER BY id DESC) AS back FROM told t WHERE type <> 0)
  WHERE back = 1 AND size > 0
), taken AS MATERIALIZED (  -- from HIP by PyTorch; without it no allocation is read
  SELECT a.session, a.pid, a.device, a.addr, a.size, a.name, a."end" IS NULL AS is_held
  FROM (SELECT 1 FROM holding WHERE holder = 'PyTorch' LIMIT 1) CROSS JOIN allocations a
  WHERE a.memory = 'device' AND EXISTS (SELECT 1 FROM of_library o WHERE o.holder = 'PyTorch' AND
    substr(a.caller_library, 1 + length(rtrim(a.caller_library, replace(a.caller_library, '/', '')))) GLOB o.pattern)
), sized AS (  -- MiB: 2; 20; from 10 on each even number. Memory of a stream-ordered pool has the sizes of blocks
  SELECT session, pid, device, size, is_held, size % 2097152 = 0 AND (size = 2097152 OR size >= 10485760)
    AND name NOT GLOB '*Async*' AS is_segment FROM taken
), segment AS MATERIALIZED (  -- few other pieces are allowed: libraries of PyTorch take some without the allocator
  SELECT session, pid, device, sum(is_segment) >= 0.9 * count(*) AS fits, sum(is_segment AND is_held) AS n,
    sum(iif(is_segment AND is_held, size, 0)) AS bytes,
    sum(iif(is_segment AND is_held AND size = 2097152, size, 0)) AS small_bytes
  FROM sized GROUP BY session, pid, device
), piece AS MATERIALIZED (
  SELECT session, pid, device, addr, size FROM taken WHERE is_held AND EXISTS (SELECT 1 FROM last_told)
), placed AS MATERIALIZED (
  SELECT p.session, p.pid, p.device, p.addr, p.size AS whole, g.at, g.size FROM piece p
  LEFT JOIN given g ON g.session = p.session AND g.pid = p.pid AND g.at >= p.addr AND g.at < p.addr + p.size
), gap AS (
  SELECT session, pid, device,
    at - coalesce(lag(at + size) OVER (PARTITION BY session, pid, addr ORDER BY at), addr) AS size
  FROM placed WHERE at IS NOT NULL
  UNION ALL
  SELECT session, pid, device, addr + whole - coalesce(max(at + size), addr) FROM placed
  GROUP BY session, pid, device, addr
), hole AS MATERIALIZED (
  SELECT session, pid, device, max(size) AS largest, sum(size > 0) AS n FROM gap GROUP BY session, pid, device
), block AS MATERIALIZED (
  SELECT g.session, g.pid, g.device, count(*) AS n,
    sum((g.session, g.pid, g.at) IN (SELECT session, pid, at FROM placed WHERE at IS NOT NULL)) AS found
  FROM given g GROUP BY g.session, g.pid, g.device
), summed AS (
  SELECT session, pid, device, holder, sum(live_at_end) AS reserved, sum(peak) AS peak FROM holding
  GROUP BY session, pid, device, holder
)
SELECT s.pid, s.device, s.holder, s.reserved AS reserved_bytes, s.peak AS peak_bytes, t.allocated AS allocated_bytes,
       l.peak_allocated AS peak_allocated_bytes, s.reserved - t.allocated AS idle_bytes,
       round(100.0 * (s.reserved - t.allocated) / nullif(s.reserved, 0), 1) AS idle_percent,
       iif(coalesce(b.n, 0) = coalesce(b.found, 0), h.largest, NULL) AS largest_gap_bytes,
       iif(coalesce(b.n, 0) = coalesce(b.found, 0), h.n, NULL) AS gaps,
       iif(l.id IS NULL, NULL, coalesce(b.n, 0)) AS blocks, t.reserved AS told_bytes,
       CASE WHEN l.id IS NOT NULL THEN 'told' WHEN g.fits THEN 'from sizes'
         WHEN g.fits = 0 THEN 'other sizes' END AS basis,
       iif(g.fits, g.n, NULL) AS segments, iif(g.fits, g.bytes, NULL) AS segment_bytes,
       iif(g.fits, g.small_bytes, NULL) AS small_segment_bytes
FROM summed s
LEFT JOIN last_told l ON s.holder = 'PyTorch' AND l.session = s.session AND l.pid = s.pid AND l.device = s.device
LEFT JOIN told t ON t.id = l.id
LEFT JOIN hole h ON l.id IS NOT NULL AND h.session = s.session AND h.pid = s.pid AND h.device = s.device
LEFT JOIN block b ON l.id IS NOT NULL AND b.session = s.session AND b.pid = s.pid AND b.device = s.device
LEFT JOIN segment g ON s.holder = 'PyTorch' AND l.id IS NULL AND g.session = s.session AND g.pid = s.pid
  AND g.device = s.device
WHERE true /*? AND s.holder REGEXP :name */
