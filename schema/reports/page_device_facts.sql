-- The facts of devices that were told alike. :devices: their ids, with commas between them.
SELECT place, fact, unit, group_concat(DISTINCT told) AS told, max(counts) AS counts,
       group_concat(DISTINCT received) AS received, max(driver) AS driver, max(reference) AS reference,
       group_concat(DISTINCT told_by_zluda) AS told_by_zluda,
       group_concat(DISTINCT received_from_zluda) AS received_from_zluda,
       group_concat(DISTINCT told_by_nvml) AS told_by_nvml
FROM device_facts
WHERE instr(',' || :devices || ',', ',' || device_id || ',') > 0
GROUP BY place
ORDER BY place
