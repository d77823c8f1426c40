-- The conditions of fade-query check.
INSERT INTO doc_ (view, "column", type, unit, text) VALUES
('checks', '', '', '', 'What fade-query check can fail on: a row for each session and condition'),
('checks', 'session', 'integer', '', 'sessions.id'),
('checks', 'condition', 'text', '', 'its name in --fail-on'),
('checks', 'n', 'integer', '', 'how often it is met; 0: it is not'),
('checks', 'detail', 'text', '', 'a sentence for where it is met'),
('checks', 'unknown', 'text', '', 'why it cannot be told whether the condition is met; NULL: it can'),
('checks', 'usual', 'integer', '', '1: looked at where --fail-on is not given');
