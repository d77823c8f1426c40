-- Operators of PyTorch, from an imported trace, and the work of GPUs of each
-- about: fade-query import FILE takes them from a trace of PyTorch's profiler. Works are those of calls right in the operator, not in operators in it.
-- sort: -self_ns
-- limit: 40
-- leave: max_ns avg_ns
-- none: no trace with operators was imported (fade-query import FILE)
-- question: work
-- topic: file
-- column: name      text      of the operator
-- column: n         count     how often
-- column: total_ns  duration  time on the host
-- column: self_ns   duration  of that, outside operators in it
-- column: avg_ns    duration  of one
-- column: max_ns    duration  the longest
-- column: works     count     kernels, copies and fills that its own calls put to run
-- column: gpu_ns    duration  time of these on the GPU
SELECT name, sum(n) AS n, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns, sum(total_ns) / sum(n) AS avg_ns,
       max(max_ns) AS max_ns, sum(works) AS works, sum(gpu_ns) AS gpu_ns
FROM operator_stats
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND name REGEXP :name */
GROUP BY name
