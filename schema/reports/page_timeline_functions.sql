-- Functions by their row id, which calls have. on_gpu: its calls may have work on a GPU.
SELECT f.id, f.name, f.api, f.kind IN ('launch', 'copy', 'set', 'graph') AS on_gpu
FROM functions f
WHERE f.session = coalesce(:session, f.session)
