-- Devices; those of several processes that were told the same are one row.
SELECT device, name, pci, node, matched_by, driver_problem, group_concat(DISTINCT pid) AS pids,
       group_concat(device_id) AS ids
FROM device_truth
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:device IS NULL OR device = :device)
  AND (:name IS NULL OR name REGEXP :name)
GROUP BY session, device, name, pci, node
ORDER BY session, device, node
