
-- ---------------------------------------------------------------- findings: what somebody should know, computed from the recording
-- One file in findings/ for each, a SELECT of these columns; they follow here. device, pid: NULL where it is about none or several.
CREATE VIEW findings (session, pid, device, finding, severity, subject, text, advice) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE false
