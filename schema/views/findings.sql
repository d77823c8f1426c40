-- Facts that a user should know. Each file in schema/findings/ is a SELECT of these columns; the SELECTs follow here.
-- device, pid: NULL for findings about no or several devices or processes.
-- Views that several findings read are materialized. SQLite would compile and read them again in each finding.
CREATE VIEW findings (session, pid, device, finding, severity, subject, text, advice) AS
WITH known_devices AS MATERIALIZED (SELECT * FROM device_truth),
environments AS MATERIALIZED (SELECT * FROM environment_findings),
failed_allocations AS MATERIALIZED (SELECT * FROM ooms),
losses AS MATERIALIZED (SELECT * FROM gpu_losses),
seen_gpus AS MATERIALIZED (SELECT * FROM visible_gpus)
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
WHERE false
