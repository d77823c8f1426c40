-- Convolutions of MIOpen and cuDNN by shape: algorithm, FLOPs, and the rate that the GPU reached
-- about: From the arguments of MIOpen and of ZLUDA's cuDNN (-e all,dnn), and from the descriptors that the program made
--   before. 2 operations for each element of the result, filter element and input channel, as MIOpenDriver counts,
--   whatever the algorithm does. The three directions of a convolution have the same number. Convolutions of MIOpen's
--   Find 2.0 (miopenRunSolution) and of cuDNN's graphs are left out.
-- about: -e dnn without all records no launches, so the columns of the GPU's time stay empty. Trials of a find are not
--   convolutions here.
-- sort: -flops
-- limit: 40
-- leave: pid pad stride dilation layout percent total_ns flops output gpu_ns groups peak_percent gb_per_s
-- none: no convolution was recorded
-- question: work
-- topic: kernels
-- rows: of single calls
-- record: -e all,dnn
-- column: name          text      function
-- column: pid           id        process
-- column: input         text      images, channels, then the size of an image (x)
-- column: filter        text      output channels, input channels of a group, then the size of the filter (w)
-- column: output        text      as input (y)
-- column: pad           text      elements on each side
-- column: stride        text      of the filter
-- column: dilation      text      of the filter
-- column: groups        count     of channels
-- column: layout        text      order of the input's elements in memory
-- column: types         text      elements of input, filter and output, if they differ
-- column: algorithm     text      that the call asked for, or the number of MIOpen's solution in immediate mode
-- column: calls         count     successful calls with this shape
-- column: total_ns      net       time of these calls on the host
-- column: flops         number    operations of all calls
-- column: percent       percent   share of the operations of all convolutions
-- column: bytes         bytes     of the three tensors, each moved once, for all calls
-- column: gpu_ns        duration  time of the GPU for work that the calls put to run; empty without --gpu-times
-- column: tflops        number    operations by time of the GPU, 1e12 in a second; an algorithm with fewer operations
--   may exceed the peak
-- column: peak_percent  percent   of the highest rate of the card for this type, with matrix units if it has any, at
--   the highest clock; empty: not known
-- column: gb_per_s      number    bytes by time of the GPU
WITH family(pattern, x, w, y) AS (
  VALUES  -- x, w, y: the parameters with the descriptors of input, filter and output
    ('^miopenConvolutionForward(Immediate)?$', 'xDesc', 'wDesc', 'yDesc'),
    ('^miopenConvolutionBackwardData(Immediate)?$', 'dxDesc', 'wDesc', 'dyDesc'),
    ('^miopenConvolutionBackwardWeights(Immediate)?$', 'xDesc', 'dwDesc', 'dyDesc'),
    ('^(miopen|cudnn)ConvolutionBiasActivationForward$', 'xDesc', 'wDesc', 'yDesc'),
    ('^miopenExecuteFusionPlan$', 'inputDesc', NULL, 'outputDesc'),
    ('^cudnnConvolutionForward$', 'xDesc', 'wDesc', 'yDesc'),
    ('^cudnnConvolutionBackwardData$', 'dxDesc', 'wDesc', 'dyDesc'),
    ('^cudnnConvolutionBackwardFilter$', 'xDesc', 'dwDesc', 'dyDesc')
), maker(pattern, handle, does) AS (
  VALUES  -- calls that set a descriptor, add the groups to it, or leave it without a meaning
    ('^(miopenSet4dTensor|cudnnSetTensor4d)Descriptor(Ex)?$', 'tensorDesc', 'set'),
    ('^miopenSet(Tensor|NdTensor)Descriptor(V2|WithLayout)?$', 'tensorDesc', 'set'),
    ('^cudnnSetTensorNdDescriptor(Ex)?$', 'tensorDesc', 'set'),
    ('^cudnnSetFilter[4N]dDescriptor$', 'filterDesc', 'set'),
    ('^miopenInitConvolution(Nd)?Descriptor$', 'convDesc', 'set'),
    ('^cudnnSetConvolution[2N]dDescriptor$', 'convDesc', 'set'),
    ('^(miopen|cudnn)SetConvolutionGroupCount$', 'convDesc', 'group'),
    ('^miopenCreateOpConvForward$', 'fusePlanDesc', 'set'),
    ('^(miopen|cudnn)(Create|Destroy)TensorDescriptor$', 'tensorDesc', 'clear'),
    ('^cudnn(Create|Destroy)FilterDescriptor$', 'filterDesc', 'clear'),
    ('^(miopen|cudnn)(Create|Destroy)ConvolutionDescriptor$', 'convDesc', 'clear'),
    ('^miopen(Create|Destroy)FusionPlan$', 'fusePlanDesc', 'clear')
), convolution AS MATERIALIZED (
  SELECT f.function_id AS id, f.name, g.x, g.w, g.y FROM library_functions f JOIN family g ON f.name REGEXP g.pattern
  WHERE f."group" = 'dnn'
), told AS MATERIALIZED (
  SELECT c.session, c.id, c.pid, c.duration, c.function_id
  -- without such functions no call is read
  FROM (SELECT 1 FROM convolution LIMIT 1) CROSS JOIN calls c WHERE c.failed = 0
    AND c.function_id IN (SELECT id FROM convolution)
), nested AS MATERIALIZED (
  SELECT call_id AS id FROM library_nesting
  WHERE call_id IN (SELECT id FROM told) AND outer_id IN (SELECT id FROM told)
), chosen AS MATERIALIZED (
  SELECT t.*, v.name, json_extract(c.args, '$.' || v.x) AS x, json_extract(c.args, '$.' || v.w) AS w,
    json_extract(c.args, '$.' || v.y) AS y, json_extract(c.args, '$.convDesc') AS conv,
    json_extract(c.args, '$.fusePlanDesc') AS plan,
    coalesce(json_extract(c.args, '$.algo'), 'solution ' || json_extract(c.args, '$.solution_id')) AS algorithm
  FROM told t JOIN convolution v ON v.id = t.function_id JOIN calls c ON c.id = t.id
  WHERE t.id NOT IN (SELECT id FROM nested) /*? AND t.session = :session */ /*? AND t.pid = :pid */
    /*? AND v.name REGEXP :name */
), setter AS MATERIALIZED (
  SELECT f.function_id AS id, m.does, m.handle FROM library_functions f JOIN maker m ON f.name REGEXP m.pattern
  WHERE f."group" = 'dnn'
), made AS MATERIALIZED (
  SELECT c.session, c.pid, c.id, m.does, json_extract(c.args, '$.' || m.handle) AS handle,
    iif(m.does = 'clear', NULL, json_remove(c.args, '$.' || m.handle)) AS facts
  FROM (SELECT 1 FROM convolution LIMIT 1) CROSS JOIN calls c JOIN setter m ON m.id = c.function_id WHERE c.failed = 0
), event AS (  -- a handle is used again, so the last call about it before a convolution holds
  SELECT session, pid, handle, id, iif(does = 'group', NULL, id) AS made, iif(does = 'group', id, NULL) AS grouped,
    NULL AS role FROM made
  UNION ALL
  SELECT c.session, c.pid, CASE r.role WHEN 'x' THEN c.x WHEN 'w' THEN c.w WHEN 'y' THEN c.y WHEN 'conv' THEN c.conv
    ELSE c.plan END, c.id, NULL, NULL, r.role
  FROM chosen c CROSS JOIN (SELECT 'x' AS role UNION ALL SELECT 'w' UNION ALL SELECT 'y' UNION ALL SELECT 'conv'
    UNION ALL SELECT 'plan') r
  UNION ALL  -- an operation of a fusion plan has the filter and the convolution
  SELECT m.session, m.pid, json_extract(m.facts, r.path), m.id, NULL, NULL, r.role
  FROM made m CROSS JOIN (SELECT 'w' AS role, '$.wDesc' AS path UNION ALL SELECT 'conv', '$.convDesc') r
  WHERE json_extract(m.facts, '$.wDesc') IS NOT NULL
), matched AS (
  SELECT id, role, max(made) OVER one AS made, max(grouped) OVER one AS grouped FROM event WHERE handle IS NOT NULL
  WINDOW one AS (PARTITION BY session, pid, handle ORDER BY id)
), shaped AS MATERIALIZED (
  SELECT id, max(iif(role = 'x', made, NULL)) AS x, max(iif(role = 'w', made, NULL)) AS w,
    max(iif(role = 'y', made, NULL)) AS y, max(iif(role = 'conv', made, NULL)) AS conv,
    max(iif(role = 'plan', made, NULL)) AS plan, max(iif(role = 'conv' AND grouped > made, grouped, NULL)) AS grouped
  FROM matched WHERE role IS NOT NULL GROUP BY id
), alike AS MATERIALIZED (  -- arguments of equal calls are unpacked once
  SELECT c.session, c.pid, c.name, c.function_id, c.algorithm, x.facts AS x, w.facts AS w, y.facts AS y,
    v.facts AS conv, json_extract(g.facts, '$.groupCount') AS groups, count(*) AS calls, sum(c.duration) AS duration,
    count(n.gpu_ns) AS timed, sum(n.gpu_ns) AS gpu_ns, max(n.device) AS device
  FROM chosen c JOIN shaped s ON s.id = c.id LEFT JOIN shaped p ON p.id = s.plan
  LEFT JOIN made x ON x.id = s.x LEFT JOIN made w ON w.id = coalesce(s.w, p.w) LEFT JOIN made y ON y.id = s.y
  LEFT JOIN made v ON v.id = coalesce(s.conv, p.conv) LEFT JOIN made g ON g.id = coalesce(s.grouped, p.grouped)
  LEFT JOIN library_work n ON n.call_id = c.id
  WHERE c.plan IS NULL OR p.id IS NOT NULL
  GROUP BY c.session, c.pid, c.function_id, c.algorithm, x.facts, w.facts, y.facts, v.facts, groups
), tensor(facts, type, dims, strides, layout) AS MATERIALIZED (
  SELECT facts, json_extract(facts, '$.dataType'),
    coalesce(json_extract(facts, '$.dimsA'), json_extract(facts, '$.lens'), json_extract(facts, '$.dimA'),
      json_extract(facts, '$.filterDimA'), json_array(coalesce(json_extract(facts, '$.n'), json_extract(facts, '$.k')),
      json_extract(facts, '$.c'), json_extract(facts, '$.h'), json_extract(facts, '$.w'))),
    coalesce(json_extract(facts, '$.stridesA'), json_extract(facts, '$.strideA'),
      json_array(json_extract(facts, '$.nStride'), json_extract(facts, '$.cStride'))),
    coalesce(replace(json_extract(facts, '$.tensorLayout'), 'miopenTensor', ''),
      replace(json_extract(facts, '$.format'), 'CUDNN_TENSOR_', ''))
  FROM (SELECT x AS facts FROM alike UNION SELECT w FROM alike UNION SELECT y FROM alike) WHERE facts IS NOT NULL
), sized AS MATERIALIZED (
  SELECT t.facts, coalesce(e.type, t.type) AS type, e.bytes, replace(trim(t.dims, '[]'), ',', 'x') AS size,
    json_extract(t.dims, '$[0]') AS first, json_extract(t.dims, '$[0]') * coalesce(json_extract(t.dims, '$[1]'), 1)
      * coalesce(json_extract(t.dims, '$[2]'), 1) * coalesce(json_extract(t.dims, '$[3]'), 1)
      * coalesce(json_extract(t.dims, '$[4]'), 1) AS n,
    coalesce(t.layout, iif(json_extract(t.strides, '$[1]') = 1 AND json_extract(t.dims, '$[1]') > 1, 'N', 'NC')
      || iif(json_array_length(t.dims) = 5, 'D', '') || iif(json_array_length(t.dims) = 3, '', 'H') || 'W'
      || iif(json_extract(t.strides, '$[1]') = 1 AND json_extract(t.dims, '$[1]') > 1, 'C', '')) AS layout
  FROM tensor t LEFT JOIN element_types e ON e.word = t.type
), typed AS (
  SELECT a.*, x.size AS input, w.size AS filter, y.size AS output, x.layout, x.type,
    iif(x.type = w.type AND w.type = y.type, x.type, x.type || ',' || w.type || ',' || y.type) AS types,
    2.0 * iif(json_extract(a.conv, '$.c_mode') = 'miopenTranspose', x.n, y.n) * w.n / nullif(w.first, 0) AS flops,
    x.n * x.bytes + w.n * w.bytes + y.n * y.bytes AS bytes, a.duration - coalesce(a.calls * c.own_ns, 0) AS net,
    trim(coalesce(json_extract(a.conv, '$.padA'), json_array(json_extract(a.conv, '$.pad_h'),
      json_extract(a.conv, '$.pad_w'))), '[]') AS pad,
    trim(coalesce(json_extract(a.conv, '$.strideA'), json_extract(a.conv, '$.filterStrideA'),
      json_array(coalesce(json_extract(a.conv, '$.stride_h'), json_extract(a.conv, '$.u')),
      coalesce(json_extract(a.conv, '$.stride_w'), json_extract(a.conv, '$.v')))), '[]') AS stride,
    trim(coalesce(json_extract(a.conv, '$.dilationA'), json_array(json_extract(a.conv, '$.dilation_h'),
      json_extract(a.conv, '$.dilation_w'))), '[]') AS dilation
  FROM alike a LEFT JOIN sized x ON x.facts = a.x LEFT JOIN sized w ON w.facts = a.w LEFT JOIN sized y ON y.facts = a.y
  LEFT JOIN library_costs c ON c.session = a.session AND c.pid = a.pid AND c.function_id = a.function_id
), shape AS (
  SELECT session, name, pid, input, filter, output, iif(conv IS NULL, NULL, pad) AS pad,
    iif(conv IS NULL, NULL, stride) AS stride, iif(conv IS NULL, NULL, dilation) AS dilation,
    iif(conv IS NULL, NULL, coalesce(groups, 1)) AS groups, layout, types,
    CASE WHEN algorithm GLOB '*ALGO_*' THEN substr(algorithm, instr(algorithm, 'ALGO_') + 5)
      WHEN algorithm GLOB '*Algo*' THEN substr(algorithm, instr(algorithm, 'Algo') + 4) ELSE algorithm END AS algorithm,
    sum(calls) AS calls, max(sum(net), 0) AS total_ns, sum(flops * calls) AS flops, sum(bytes * calls) AS bytes,
    sum(gpu_ns) AS gpu_ns, sum(nullif(timed, 0) * flops) AS timed_flops, sum(nullif(timed, 0) * bytes) AS timed_bytes,
    max(device) AS device, type
  FROM typed GROUP BY session, name, pid, input, filter, output, pad, stride, dilation, groups, layout, types, algorithm
)
SELECT s.name, s.pid, s.input, s.filter, s.output, s.pad, s.stride, s.dilation, s.groups, s.layout, s.types,
  s.algorithm, s.calls, s.total_ns, s.flops, round(100.0 * s.flops / nullif(sum(s.flops) OVER (), 0), 2) AS percent,
  s.bytes, s.gpu_ns, round(s.timed_flops / nullif(s.gpu_ns, 0) / 1e3, 2) AS tflops,
  round(100.0 * s.timed_flops / nullif(s.gpu_ns, 0) * 1e9 / p.operations, 1) AS peak_percent,
  round(1.0 * s.timed_bytes / nullif(s.gpu_ns, 0), 2) AS gb_per_s
FROM shape s
LEFT JOIN device_peaks p ON p.session = s.session AND p.pid = s.pid AND p.device = s.device AND p.type = s.type
  AND p.unit = 'any'
