-- Two counts of GPUs in one program: NVML counts boards, HIP what the variables leave.
SELECT session, pid, NULL, 'nvml-count', 'warning', 'number of GPUs',
       printf('NVML said that there %s %d GPU%s, HIP offered %d.', iif(told = 1, 'is', 'are'), told,
              iif(told = 1, '', 's'), offered),
       'NVML, and ZLUDA''s stand-in for it, count all boards and know nothing of HIP_VISIBLE_DEVICES and '
       || 'ROCR_VISIBLE_DEVICES. A program that takes NVML''s count or numbers may ask HIP or CUDA for a device that '
       || 'it does not have: compare fade-query devices, and give the program its devices by number.'
FROM (
  SELECT n.*,
         (SELECT o.devices
          FROM device_count_answers o
          WHERE o.process_id = n.process_id
          ORDER BY o.call_id
          LIMIT 1) AS offered
  FROM (
    SELECT session, process_id, pid, CAST(value AS INTEGER) AS told, max(id)
    FROM nvml_answers
    WHERE name = 'count'
    GROUP BY process_id) n)
WHERE offered <> told
