-- Findings about devices.
INSERT INTO doc_ (view, "column", type, unit, text) VALUES
('device_findings', '', '', '', 'The findings about devices and what tells of them; findings has these and all others'),
('device_findings', 'session', 'integer', '', 'sessions.id'),
('device_findings', 'pid', 'integer', '', 'process id of the operating system; NULL: about none or several'),
('device_findings', 'device', 'integer', '', 'ordinal of the device; NULL: about none'),
('device_findings', 'finding', 'text', '', 'name of the finding'),
('device_findings', 'severity', 'text', '', 'info, warning or error'),
('device_findings', 'subject', 'text', '', 'what it is about'),
('device_findings', 'text', 'text', '', 'what was found and why'),
('device_findings', 'advice', 'text', '', 'what to do');
