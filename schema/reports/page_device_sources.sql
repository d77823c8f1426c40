-- The functions that told the facts of devices.
SELECT group_concat(DISTINCT substr(source, 5)) AS functions
FROM device_properties p
JOIN devices d ON d.session = p.session AND d.pid = p.pid AND d.ordinal = p.device
WHERE instr(',' || :devices || ',', ',' || d.id || ',') > 0 AND p.source LIKE 'api:%'
