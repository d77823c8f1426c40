-- All launches of kernels together.
SELECT coalesce(sum(launches), 0) AS launches, count(DISTINCT kernel_id) AS kernels,
       coalesce(sum(in_graphs), 0) AS in_graphs,
       coalesce(sum(iif(kernel_id IS NULL, launches, 0)), 0) AS unknown_graphs
FROM kernel_runs
WHERE session = coalesce(:session, session)
