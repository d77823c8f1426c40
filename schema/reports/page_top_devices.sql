-- The last second of each GPU's sensors.
WITH newest AS MATERIALIZED (
  SELECT g.rowid AS row, g.node FROM gpu_sample_ g WHERE g.session = :session ORDER BY g.rowid DESC LIMIT 64)
SELECT g.node, k.name, k.pci, g.asleep >= g.looks AS asleep, g.busy, CAST(g.vram AS INTEGER) AS memory,
       k.memory AS memory_total, g.power / 1000000.0 AS watts, g.temperature / 1000.0 AS celsius, g.ts AS start
FROM (SELECT max(row) AS row FROM newest GROUP BY node) n
JOIN gpu_sample_ g ON g.rowid = n.row
LEFT JOIN kfd_node_ k ON k.session = g.session AND k.node = g.node
ORDER BY g.node
