-- Samples.
INSERT INTO doc_ (view, "column", type, unit, text) VALUES
('samples', '', '', '',
 'Where threads were that were in no watched call, so many times a second (fade-run --sample): lines of Python of '
 || 'threads that run'),
('samples', 'session', 'integer', '', 'sessions.id'),
('samples', 'process_id', 'integer', '', 'processes.id'),
('samples', 'pid', 'integer', '', 'process id of the operating system'),
('samples', 'tid', 'integer', '', 'thread id of the operating system'),
('samples', 'thread_id', 'integer', '', 'threads.id'),
('samples', 'start', 'integer', 'ns', 'when the thread was looked at'),
('samples', 'stack', 'integer', '', 'number of the stack, Python frames alone: fade-query stacks --stack'),
('samples', 'user_line', 'text', '',
 'file name and line of the innermost frame outside of packages and the standard library, else of the innermost one'),
('samples', 'function', 'text', '', 'its function'),
('samples', 'file', 'text', '', 'path of its file'),
('samples', 'line', 'integer', '', 'number of its line');
