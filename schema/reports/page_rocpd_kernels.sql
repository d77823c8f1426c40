-- Kernels as rows of rocpd_info_kernel_symbol.
SELECT k.id, 1 AS nid, p.id AS pid, p.id AS code_object_id,
  coalesce(k.name, l.name, printf('0x%x', k.object)) AS kernel_name,
       coalesce(k.demangled, k.name, l.demangled, l.name, printf('0x%x', k.object)) AS display_name,
       k.object AS kernel_object, c.kernarg AS kernarg_segment_size, coalesce(c.lds, 0) AS group_segment_size,
       coalesce(c.scratch, 0) AS private_segment_size, coalesce(c.sgprs, 0) AS sgpr_count,
       coalesce(c.vgprs, 0) AS arch_vgpr_count, coalesce(c.agprs, 0) AS accum_vgpr_count
FROM gpu_kernel_ k
JOIN process_ p ON p.id = k.process
LEFT JOIN kernel_ l ON l.id = k.kernel
LEFT JOIN (
  SELECT kernel, max(kernarg) AS kernarg, max(lds) AS lds, max(scratch) AS scratch, max(sgprs) AS sgprs,
         max(vgprs) AS vgprs, max(agprs) AS agprs
  FROM kernel_code_
  GROUP BY kernel) c ON c.kernel = k.kernel
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
