-- CUDA_VISIBLE_DEVICES counts only where HIP_VISIBLE_DEVICES is empty.
SELECT session, pid, NULL, 'cuda-variable-ignored', 'warning', printf('process %d', pid),
       printf('CUDA_VISIBLE_DEVICES=%s has no effect: HIP_VISIBLE_DEVICES=%s is set and comes first.',
              ignored_cuda_visible_devices, hip_visible_devices),
       'Set one of the two, or both alike.'
FROM seen_gpus
WHERE ignored_cuda_visible_devices <> hip_visible_devices
GROUP BY process_id
