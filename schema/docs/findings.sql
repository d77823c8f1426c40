-- Findings.
INSERT INTO doc_ (view, "column", type, unit, text) VALUES
('findings', '', '', '', 'Diagnoses, computed from the recording; fade-findings(7) explains each'),
('findings', 'session', 'integer', '', 'sessions.id'),
('findings', 'pid', 'integer', '', 'process id of the operating system; NULL: about none or several'),
('findings', 'device', 'integer', '', 'ordinal of the device; NULL: about none'),
('findings', 'finding', 'text', '', 'name of the finding'),
('findings', 'severity', 'text', '', 'info, warning or error'),
('findings', 'subject', 'text', '', 'what it is about'),
('findings', 'text', 'text', '', 'what was found and why'),
('findings', 'advice', 'text', '', 'what to do');
