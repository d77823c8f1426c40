-- The variables leave a process nothing.
SELECT session, pid, NULL, 'all-hidden', 'error', printf('process %d', pid),
       printf('%s leaves none of the %d GPUs: HIP answers hipErrorNoDevice (100).',
              group_concat(DISTINCT hidden_by || '='
                           || iif(hidden_by = 'ROCR_VISIBLE_DEVICES', rocr_visible_devices, hip_visible_devices)),
              count(*)),
       'Numbers begin at 0 and count GPUs, not nodes; HIP_VISIBLE_DEVICES counts within what ROCR_VISIBLE_DEVICES '
       || 'left. Correct or unset the variable.'
FROM seen_gpus
GROUP BY process_id
HAVING max(hidden_by IS NULL) = 0
