-- Graphs, how often they were launched, and the kernels that each launch runs
-- about: A row for each kernel of a graph. Nodes are named when they are added, or when a launch is captured from a
--   stream. A graph whose
-- about: kernels were changed is another graph from its next launch on.
-- sort: graph
-- limit: 60
-- leave: pid handle first_ns complete launch_avg_ns block
-- none: no graph was made
-- question: work
-- topic: graphs
-- events: graph
-- column: graph          id        number
-- column: pid            id        process
-- column: rank           count     of the process in a distributed job
-- column: handle         text      hipGraphExec_t
-- column: launches       count     how often it was launched
-- column: kernels        count     that one launch runs
-- column: name           text      kernel, demangled; empty: none is known
-- column: n              count     how often the graph has it
-- column: grid           text      work-groups
-- column: block          text      work-items of a work-group
-- column: complete       text      no: not all of its kernels are known
-- column: launch_avg_ns  net       of one launching call on the host
-- column: first_ns       time      first launch
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT g.id AS graph, g.pid, (SELECT r.rank FROM rank_of r WHERE r.session = g.session AND r.pid = g.pid) AS rank,
       g.handle_hex AS handle, g.launches, g.kernels, k.name, k.n,
       k.grid_x || 'x' || k.grid_y || 'x' || k.grid_z AS grid,
       k.block_x || 'x' || k.block_y || 'x' || k.block_z AS block, iif(g.complete, 'yes', 'no') AS complete,
       g.launch_total_ns / nullif(g.launches, 0) AS launch_avg_ns, g.first AS first_ns
FROM graphs g LEFT JOIN graph_kernels k ON k.graph_id = g.id
WHERE true /*? AND g.session = :session */ /*? AND g.pid = :pid */
    /*? AND (g.session, g.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND k.name REGEXP :name */
