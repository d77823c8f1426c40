-- The variables that choose devices and the devices that they leave; equal ones of several processes are one row.
SELECT rocr, hip, variable, cuda, nodes, group_concat(pid, ', ') AS pids
FROM (
  SELECT session, pid, max(rocr_visible_devices) AS rocr, max(hip_visible_devices) AS hip,
         max(hip_variable) AS variable, max(ignored_cuda_visible_devices) AS cuda,
         group_concat(device || ' is node ' || node, ', device ') AS nodes
  FROM visible_gpus
  WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid)
  GROUP BY process_id)
WHERE rocr IS NOT NULL OR hip IS NOT NULL
GROUP BY session, rocr, hip, variable, cuda, nodes
ORDER BY min(pid)
