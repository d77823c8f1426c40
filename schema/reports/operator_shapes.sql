-- Operators of PyTorch by the types and sizes of their arguments, with FLOPs
-- about: Recorded with fade-run -e ops --operator-shapes. A tensor is its type and sizes: f32[2,3]; one of a GPU has
--   its device. Calls without shapes were made before fade knew the layout of tensors (fade-query lifecycle), or have
--   only arguments that it does not read.
-- about: flops counts what torch.profiler counts (with_flops): mm, addmm, bmm, baddbmm, conv2d, add and mul. Other
--   operators have none: linear has those of the addmm inside it.
-- hidden: a variant of operators
-- sort: -total_ns
-- limit: 40
-- leave: total_gpu_ns tflops gflop_per_s
-- none: no shapes of operators were recorded (-e ops --operator-shapes)
-- topic: calls
-- rows: of single calls
-- record: -e all,ops --operator-shapes
-- column: name          text      of the operator
-- column: shapes        text      arguments: tensors, and lists of numbers
-- column: n             count     calls with these
-- column: total_ns      net       time of these on the host
-- column: avg_ns        net       of one
-- column: flops         number    floating-point operations of all of them
-- column: gflop_per_s   number    operations by time on the host, 1e9 in a second
-- column: total_gpu_ns  duration  time of the GPU for work that was put to run in them; empty without --gpu-times
-- column: tflops        number    operations by that time, 1e12 in a second
WITH RECURSIVE function AS MATERIALIZED (
  SELECT id, name FROM functions WHERE "group" = 'ops' AND EXISTS (SELECT 1 FROM calls) /*? AND name REGEXP :name */
), work AS MATERIALIZED (
  SELECT call, sum(duration) AS ns FROM gpu_work WHERE call IS NOT NULL AND kind <> 'barrier'
    AND EXISTS (SELECT 1 FROM function) GROUP BY call
), enclosing(at, ns) AS (
  SELECT c.id - c.up, w.ns FROM work w CROSS JOIN call_ c ON c.id = w.call WHERE c.up IS NOT NULL
  UNION ALL
  SELECT p.id - p.up, e.ns FROM enclosing e CROSS JOIN call_ p ON p.id = e.at WHERE p.up IS NOT NULL
), spent AS MATERIALIZED (  -- the cast lets SQLite look a call up in an index
  SELECT CAST(at AS INTEGER) AS at, sum(ns) AS ns FROM enclosing GROUP BY at
), cost AS MATERIALIZED (  -- of fade itself
  SELECT pid, function_id, sum(raw_total_ns - total_ns) AS ns, sum(calls - counted_calls) AS calls
  FROM call_stats WHERE function_id IN (SELECT id FROM function) GROUP BY pid, function_id
), alike AS MATERIALIZED (  -- equal arguments are unpacked once
  SELECT c.pid, c.function_id, c.args, count(*) AS n, sum(c.duration) AS raw_ns, sum(s.ns) AS gpu_ns
  FROM (SELECT 1 FROM function LIMIT 1) CROSS JOIN calls c LEFT JOIN spent s ON s.at = c.id
  WHERE c.function_id IN (SELECT id FROM function) /*? AND c.session = :session */ /*? AND c.pid = :pid */
  GROUP BY c.pid, c.function_id, c.args
), shaped AS (
  SELECT f.name, f.id, a.pid, a.args, a.n, a.raw_ns, a.gpu_ns,
    (SELECT group_concat(j.key || '=' || CASE WHEN j.value GLOB '0x*' THEN '?' ELSE j.value END, ' ')
     FROM json_each(a.args) j
     WHERE j.type = 'array' OR (j.type = 'text' AND (j.value GLOB '*[[]*]*' OR j.value GLOB '0x*'))) AS shapes
  FROM alike a JOIN function f ON f.id = a.function_id
), product(name, a, b) AS (  -- the arguments that are multiplied
  VALUES ('aten::mm', 'self', 'mat2'), ('aten::addmm', 'mat1', 'mat2'), ('aten::bmm', 'self', 'mat2'),
    ('aten::baddbmm', 'batch1', 'batch2'), ('aten::conv2d', 'input', 'weight'), ('aten::add', 'self', 'self'),
    ('aten::mul', 'self', 'self')
), multiplied AS (
  SELECT s.*, p.name AS kind, json_extract(s.args, '$.' || p.a) AS a, json_extract(s.args, '$.' || p.b) AS b
  FROM shaped s LEFT JOIN product p ON p.name = substr(s.name, 1, instr(s.name || '.', '.') - 1)
), sized AS (  -- the sizes as a list
  SELECT m.*, substr(a, instr(a, '['), instr(a, ']') - instr(a, '[') + 1) AS x,
    substr(b, instr(b, '['), instr(b, ']') - instr(b, '[') + 1) AS y
  FROM multiplied m
), counted AS (
  SELECT s.*, CASE
    WHEN kind IS NULL OR json_valid(x) = 0 OR json_valid(y) = 0 THEN NULL
    WHEN kind IN ('aten::mm', 'aten::addmm') THEN 2 * (x ->> 0) * (x ->> 1) * (y ->> 1)
    WHEN kind IN ('aten::bmm', 'aten::baddbmm') THEN 2 * (x ->> 0) * (x ->> 1) * (x ->> 2) * (y ->> 2)
    WHEN kind = 'aten::conv2d' THEN 2 * (x ->> 0) * (x ->> 1) * (y ->> 0) * (y ->> 2) * (y ->> 3)
      * (((x ->> 2) + 2 * (args ->> '$.padding[0]') - (args ->> '$.dilation[0]') * ((y ->> 2) - 1) - 1)
         / nullif(args ->> '$.stride[0]', 0) + 1)
      * (((x ->> 3) + 2 * (args ->> '$.padding[1]') - (args ->> '$.dilation[1]') * ((y ->> 3) - 1) - 1)
         / nullif(args ->> '$.stride[1]', 0) + 1) / nullif(args ->> '$.groups', 0)
    ELSE coalesce(x ->> 0, 1) * coalesce(x ->> 1, 1) * coalesce(x ->> 2, 1) * coalesce(x ->> 3, 1)
      * coalesce(x ->> 4, 1) * coalesce(x ->> 5, 1) * coalesce(x ->> 6, 1) * coalesce(x ->> 7, 1) END AS flops
  FROM sized s
), net AS (
  SELECT c.name, c.shapes, sum(c.n) AS n,
    max(sum(c.raw_ns - coalesce(c.n * k.ns / nullif(k.calls, 0), 0)), 0) AS total_ns, sum(c.n * c.flops) AS flops,
    sum(c.gpu_ns) AS gpu_ns
  FROM counted c LEFT JOIN cost k ON k.pid = c.pid AND k.function_id = c.id
  GROUP BY c.name, c.shapes
)
SELECT name, shapes, n, total_ns, total_ns / nullif(n, 0) AS avg_ns, flops,
       round(1.0 * flops / nullif(total_ns, 0), 2) AS gflop_per_s, gpu_ns AS total_gpu_ns,
       round(flops / nullif(gpu_ns, 0) / 1e3, 2) AS tflops
FROM net
WHERE EXISTS (SELECT 1 FROM net WHERE shapes IS NOT NULL)
