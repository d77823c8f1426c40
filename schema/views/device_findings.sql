-- Findings about devices, the variables that choose them, and the libraries that tell of them. Each file in
-- schema/device_findings/ is a SELECT of these columns; the SELECTs follow here.
-- device, pid: NULL for findings about no or several devices or processes.
-- Views that several findings read are materialized. SQLite would read them again in each finding.
CREATE VIEW device_findings (session, pid, device, finding, severity, subject, text, advice) AS
WITH known_devices AS MATERIALIZED (SELECT * FROM device_truth),
seen_gpus AS MATERIALIZED (SELECT * FROM visible_gpus)
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
WHERE false
