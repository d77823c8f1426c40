-- Operators of PyTorch by kind of thread
-- about: The kind comes from names: pt_autograd_N is PyTorch's thread for the backward pass of device N, pt_data_worker
--   a worker of a DataLoader, pt_data_pin the thread that copies into pinned memory. A forked process without such a
--   name is called worker: DataLoaders of PyTorch before 2.5 give no names. The backward pass of the CPU runs in the
--   thread that called backward(), so it has no kind of its own.
-- hidden: a variant of operators
-- sort: -self_ns
-- limit: 40
-- none: no operator was watched (-e ops)
-- topic: calls
-- record: -e all,ops
-- column: thread    text   kind: main, backward, worker, pin memory; else the name
-- column: name      text   of the operator
-- column: threads   count  so many threads called it
-- column: n         count  calls
-- column: self_ns   net    time on the host outside operators in it, with calls of HIP
-- column: total_ns  net    time on the host
WITH function AS MATERIALIZED (
  SELECT id FROM functions WHERE "group" IN ('ops', 'ops-redispatch') /*? AND name REGEXP :name */
), stat AS MATERIALIZED (
  SELECT s.session, s.pid, s.thread_id, s.name, s.function_id, s.parent_function_id, s.calls, s.total_ns
  FROM call_stats s
  WHERE s.function_id IN (SELECT id FROM function) /*? AND s.session = :session */ /*? AND s.pid = :pid */
    /*? AND s.tid = :tid */
), inner_of AS (
  SELECT thread_id, parent_function_id AS function_id, sum(total_ns) AS ns FROM stat GROUP BY 1, 2
), child AS MATERIALIZED (  -- forked from a process of the recording, and runs its program
  SELECT c.session, c.pid FROM processes c JOIN processes p ON p.session = c.session AND p.pid = c.ppid
  WHERE c.exe = p.exe AND c.command = p.command
), kind AS (
  SELECT t.id AS thread_id, CASE
      WHEN t.name GLOB 'pt_autograd*' THEN 'backward'
      WHEN t.name GLOB 'pt_data_pin*' THEN 'pin memory'
      WHEN t.name GLOB 'pt_data_worker*' THEN 'worker'
      WHEN t.tid <> t.pid THEN t.name
      WHEN (t.session, t.pid) IN (SELECT session, pid FROM child) THEN 'worker'
      ELSE 'main' END AS thread
  FROM threads t
), sum_of AS (
  SELECT thread_id, function_id, name, sum(calls) AS n, sum(total_ns) AS total_ns FROM stat GROUP BY 1, 2
)
SELECT k.thread, s.name, count(DISTINCT s.thread_id) AS threads, sum(s.n) AS n,
       sum(max(s.total_ns - coalesce(o.ns, 0), 0)) AS self_ns, sum(s.total_ns) AS total_ns
FROM sum_of s LEFT JOIN kind k ON k.thread_id = s.thread_id
LEFT JOIN inner_of o ON o.thread_id = s.thread_id AND o.function_id = s.function_id
GROUP BY k.thread, s.name
