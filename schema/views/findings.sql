-- Facts that a user should know. Each file in schema/findings/ is a SELECT of these columns; the SELECTs follow here.
-- device, pid: NULL for findings about no or several devices or processes.
CREATE VIEW findings (session, pid, device, finding, severity, subject, text, advice) AS
SELECT *
FROM device_findings
