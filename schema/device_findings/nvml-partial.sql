-- Questions that the stand-in for NVML does not answer. No fault of the GPU.
SELECT session, pid, NULL, 'nvml-partial', 'info', 'NVML',
       printf('%d question%s about GPUs that the program asked NVML %s answered "not supported": %s.', sum(n),
              iif(sum(n) = 1, '', 's'), iif(sum(n) = 1, 'was', 'were'),
              group_concat(name || iif(n > 1, printf(' (%d times)', n), ''), ', ')),
       'ZLUDA''s NVML reports the number of GPUs and the version of a driver, and nothing else. A program that shows '
       || 'no name, memory or load, or finds no GPU, sees only this limit. fade-query devices shows HIP''s answers; '
       || 'rocm-smi shows live figures.'
FROM (
  SELECT session, pid, name, sum(repeats) AS n
  FROM errors
  WHERE category = 'nvml' AND error = 'NVML_ERROR_NOT_SUPPORTED'
  GROUP BY session, pid, name
  ORDER BY name)
GROUP BY session, pid
