-- Fourier transforms of rocFFT, hipFFT and cuFFT by length: calls, FLOPs, and the rate that the GPU reached
-- about: From the plans that the program made (-e all,fft), and the calls that execute them. A transform of one library
--   inside a transform of another counts once, as the outer one. By convention a transform of N complex numbers is 5 N
--   log2 N operations, of real ones half of that, whatever the algorithm does; N is the product of all lengths. Plans
--   over several GPUs are left out.
-- about: -e fft without all records no launches, so the columns of the GPU's time stay empty.
-- sort: -flops
-- limit: 40
-- leave: pid percent total_ns flops gpu_ns peak_percent batch
-- none: no Fourier transform was recorded
-- question: work
-- topic: kernels
-- rows: of single calls
-- record: -e all,fft
-- column: name          text      function
-- column: pid           id        process
-- column: lengths       text      of the dimensions, that of neighbours in memory last
-- column: batch         count     transforms of one call
-- column: kind          text      C2C, R2C or C2R: complex or real numbers before and after
-- column: type          text      of a real number, or of the parts of a complex one
-- column: direction     text      forward or inverse
-- column: calls         count     successful calls with this plan
-- column: total_ns      net       time of these calls on the host
-- column: flops         number    operations of all calls, by the convention
-- column: percent       percent   share of the operations of all transforms
-- column: bytes         bytes     of input and output, each moved once, for all calls
-- column: gpu_ns        duration  time of the GPU for work that the calls put to run; empty without --gpu-times
-- column: tflops        number    operations by time of the GPU, 1e12 in a second
-- column: peak_percent  percent   of the highest rate of the card's vector units for this type, at the highest clock;
--   empty: not known
-- column: gb_per_s      number    bytes by time of the GPU
WITH family(pattern) AS (
  VALUES ('^rocfft_execute$'), ('^(hip|cu)fftExec(C2C|R2C|C2R|Z2Z|D2Z|Z2D)$'), ('^(hip|cu)fftXtExec$')
), maker(pattern, does) AS (
  VALUES ('^rocfft_plan_create$', 'set'), ('^(hip|cu)fft(Xt)?(Make)?Plan(1d|2d|3d|Many|Many64)$', 'set'),
    ('^(rocfft_plan_destroy|(hip|cu)fft(Create|Destroy))$', 'clear')
), transform(word, kind, type) AS (
  VALUES ('HIPFFT_C2C', 'C2C', 'f32'), ('HIPFFT_R2C', 'R2C', 'f32'), ('HIPFFT_C2R', 'C2R', 'f32'),
    ('HIPFFT_Z2Z', 'C2C', 'f64'), ('HIPFFT_D2Z', 'R2C', 'f64'), ('HIPFFT_Z2D', 'C2R', 'f64'),
    ('41', 'C2C', 'f32'), ('42', 'R2C', 'f32'), ('44', 'C2R', 'f32'), ('105', 'C2C', 'f64'), ('106', 'R2C', 'f64'),
    ('108', 'C2R', 'f64')
), data(word, real, type) AS (  -- types of the hipfftXt and cufftXt functions; cuFFT has numbers
  VALUES ('HIP_R_16F', 1, 'f16'), ('HIP_C_16F', 0, 'f16'), ('HIP_R_32F', 1, 'f32'), ('HIP_C_32F', 0, 'f32'),
    ('HIP_R_64F', 1, 'f64'), ('HIP_C_64F', 0, 'f64'), ('2', 1, 'f16'), ('6', 0, 'f16'), ('0', 1, 'f32'),
    ('4', 0, 'f32'), ('1', 1, 'f64'), ('5', 0, 'f64')
), execution AS MATERIALIZED (
  SELECT f.function_id AS id, f.name, f.api FROM library_functions f JOIN family g ON f.name REGEXP g.pattern
  WHERE f."group" = 'fft'
), told AS MATERIALIZED (
  SELECT c.session, c.id, c.pid, c.duration, c.function_id
  -- without such functions no call is read
  FROM (SELECT 1 FROM execution LIMIT 1) CROSS JOIN calls c WHERE c.failed = 0
    AND c.function_id IN (SELECT id FROM execution)
), nested AS MATERIALIZED (
  SELECT call_id AS id FROM library_nesting
  WHERE call_id IN (SELECT id FROM told) AND outer_id IN (SELECT id FROM told)
), chosen AS MATERIALIZED (
  SELECT t.*, e.name, e.api, json_extract(c.args, '$.plan') AS plan, json_extract(c.args, '$.direction') AS direction
  FROM told t JOIN execution e ON e.id = t.function_id JOIN calls c ON c.id = t.id
  WHERE t.id NOT IN (SELECT id FROM nested) /*? AND t.session = :session */ /*? AND t.pid = :pid */
    /*? AND e.name REGEXP :name */
), setter AS MATERIALIZED (
  SELECT f.function_id AS id, f.api, m.does FROM library_functions f JOIN maker m ON f.name REGEXP m.pattern
  WHERE f."group" = 'fft'
), made AS MATERIALIZED (
  SELECT c.session, c.pid, c.id, m.api,
    coalesce(json_extract(c.args, '$.plan'), json_extract(c.args, '$.handle')) AS plan,
    iif(m.does = 'clear', NULL, json_remove(c.args, '$.plan', '$.workSize')) AS facts
  FROM (SELECT 1 FROM execution LIMIT 1) CROSS JOIN calls c JOIN setter m ON m.id = c.function_id WHERE c.failed = 0
), event AS (  -- a handle is used again, so the last plan with it before a call holds
  SELECT session, pid, api, plan, id, id AS made FROM made
  UNION ALL
  SELECT session, pid, api, plan, id, NULL FROM chosen
), matched AS (
  SELECT id, max(made) OVER (PARTITION BY session, pid, api, plan ORDER BY id) AS made FROM event
), alike AS MATERIALIZED (  -- arguments of equal calls are unpacked once
  SELECT c.session, c.pid, c.name, c.function_id, c.direction, p.facts, count(*) AS calls, sum(c.duration) AS duration,
    count(n.gpu_ns) AS timed, sum(n.gpu_ns) AS gpu_ns, max(n.device) AS device
  FROM chosen c JOIN matched m ON m.id = c.id LEFT JOIN made p ON p.id = m.made
    LEFT JOIN library_work n ON n.call_id = c.id
  GROUP BY c.session, c.pid, c.function_id, c.direction, p.facts
), read AS (
  SELECT a.*, coalesce(json_extract(a.facts, '$.lengths'), json_extract(a.facts, '$.n'),
      json_extract(a.facts, '$.nx', '$.ny', '$.nz')) AS given,
    json_extract(a.facts, '$.lengths') IS NOT NULL AS backwards,
    coalesce(json_extract(a.facts, '$.batch'), json_extract(a.facts, '$.number_of_transforms'), 1) AS batch,
    substr(json_extract(a.facts, '$.transform_type'), 23) AS roc, json_extract(a.facts, '$.precision') AS precision,
    CAST(json_extract(a.facts, '$.type') AS TEXT) AS both,
    CAST(coalesce(json_extract(a.facts, '$.inputType'), json_extract(a.facts, '$.inputtype')) AS TEXT) AS before,
    CAST(coalesce(json_extract(a.facts, '$.outputType'), json_extract(a.facts, '$.outputtype')) AS TEXT) AS after
  FROM alike a
), ordered AS (  -- at most three lengths; rocFFT has that of neighbours in memory first
  SELECT r.*, json_extract(r.given, '$[0]') AS one, json_extract(r.given, '$[1]') AS two,
    json_extract(r.given, '$[2]') AS three FROM read r
), typed AS (
  SELECT o.*, coalesce(t.kind, CASE WHEN o.roc GLOB 'complex*' THEN 'C2C' WHEN o.roc = 'real_forward' THEN 'R2C'
      WHEN o.roc = 'real_inverse' THEN 'C2R' WHEN b.real IS NULL OR a.real IS NULL THEN NULL WHEN b.real THEN 'R2C'
      WHEN a.real THEN 'C2R' ELSE 'C2C' END) AS kind,
    coalesce(t.type, b.type, CASE o.precision WHEN 'rocfft_precision_single' THEN 'f32'
      WHEN 'rocfft_precision_double' THEN 'f64' WHEN 'rocfft_precision_half' THEN 'f16' END) AS type,
    iif(o.backwards, coalesce(o.three || 'x', '') || coalesce(o.two || 'x', '') || o.one,
      o.one || coalesce('x' || o.two, '') || coalesce('x' || o.three, '')) AS lengths,
    1.0 * o.one * coalesce(o.two, 1) * coalesce(o.three, 1) AS n,
    iif(o.backwards, o.one, coalesce(o.three, o.two, o.one)) AS last,
    o.duration - coalesce(o.calls * c.own_ns, 0) AS net
  FROM ordered o LEFT JOIN transform t ON t.word = o.both LEFT JOIN data b ON b.word = o.before
  LEFT JOIN data a ON a.word = o.after
  LEFT JOIN library_costs c ON c.session = o.session AND c.pid = o.pid AND c.function_id = o.function_id
), counted AS (  -- a real transform has last / 2 + 1 complex numbers on one side
  SELECT t.*, iif(t.kind = 'C2C', 5.0, 2.5) * t.n * log2(t.n) * t.batch AS flops,
    iif(t.kind = 'C2C', 4 * t.n, t.n + 2 * t.n / t.last * (t.last / 2 + 1)) * e.bytes * t.batch AS bytes,
    CASE WHEN t.kind = 'R2C' OR t.roc GLOB '*_forward' OR t.direction < 0 THEN 'forward'
      WHEN t.kind = 'C2R' OR t.roc GLOB '*_inverse' OR t.direction > 0 THEN 'inverse' END AS way
  FROM typed t LEFT JOIN (SELECT DISTINCT type, bytes FROM element_types) e ON e.type = t.type
), shape AS (
  SELECT session, name, pid, lengths, iif(lengths IS NULL, NULL, batch) AS batch, kind, type, way AS direction,
    sum(calls) AS calls, max(sum(net), 0) AS total_ns, round(sum(flops * calls)) AS flops,
    CAST(sum(bytes * calls) AS INTEGER) AS bytes, sum(gpu_ns) AS gpu_ns, sum(nullif(timed, 0) * flops) AS timed_flops,
    sum(nullif(timed, 0) * bytes) AS timed_bytes, max(device) AS device
  FROM counted GROUP BY session, name, pid, lengths, batch, kind, type, way
)
SELECT s.name, s.pid, s.lengths, s.batch, s.kind, s.type, s.direction, s.calls, s.total_ns, s.flops,
  round(100.0 * s.flops / nullif(sum(s.flops) OVER (), 0), 2) AS percent, s.bytes, s.gpu_ns,
  round(s.timed_flops / nullif(s.gpu_ns, 0) / 1e3, 2) AS tflops,
  round(100.0 * s.timed_flops / nullif(s.gpu_ns, 0) * 1e9 / p.operations, 1) AS peak_percent,
  round(1.0 * s.timed_bytes / nullif(s.gpu_ns, 0), 2) AS gb_per_s
FROM shape s
LEFT JOIN device_peaks p ON p.session = s.session AND p.pid = s.pid AND p.device = s.device AND p.type = s.type
  AND p.unit = 'vector'
