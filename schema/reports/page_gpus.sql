-- Which GPU a device is: the driver's node, the PCI address or the UUID that a process was told. A process that did not
-- ask uses the GPU that processes with the same variables were told under this ordinal. If no process asked, ordinal
-- and variables are all there is to go by.
WITH device AS (
  SELECT d.id, d.session, d.pid, d.ordinal, d.name, d.pci, iif(trim(d.uuid, '0-') = '', NULL, d.uuid) AS uuid,
         d.ordinal
         || coalesce((SELECT group_concat(key || '=' || value)
                      FROM json_each(p.env)
                      WHERE key IN ('ROCR_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'CUDA_VISIBLE_DEVICES')),
                     '') AS place
  FROM devices d
  JOIN processes p ON p.session = d.session AND p.pid = d.pid
  WHERE d.ordinal >= 0 AND d.session = coalesce(:session, d.session)),
known AS (
  SELECT x.*, coalesce('node ' || n.node_id, lower(x.pci), lower(x.uuid)) AS own
  FROM device x
  LEFT JOIN device_nodes n ON n.device_id = x.id)
SELECT k.session, k.pid, k.ordinal AS device, k.name, k.pci,
       coalesce(k.own,
                (SELECT iif(count(DISTINCT o.own) = 1, max(o.own), NULL)
                 FROM known o
                 WHERE o.session = k.session AND o.place = k.place AND o.own IS NOT NULL
                   AND coalesce(o.name = k.name, 1)),
                'place ' || k.place || coalesce(' ' || k.name, '')) AS gpu
FROM known k
ORDER BY k.id
