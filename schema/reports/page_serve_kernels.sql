-- Names of kernels that GPUs worked on.
SELECT k.id, coalesce(k.demangled, k.name, l.demangled, l.name, printf('0x%x', k.object)) AS name
FROM gpu_kernel_ k
JOIN process_ p ON p.id = k.process
LEFT JOIN kernel_ l ON l.id = k.kernel
WHERE p.session = coalesce(:session, p.session)
