-- Sessions, and what happened in them.
INSERT INTO doc_ (view, "column", type, unit, text) VALUES
('sessions', '', '', '', 'Recordings in this file: one, or more where --append was used'),
('sessions', 'id', 'integer', '', 'id of the session'),
('sessions', 'kind', 'text', '', 'run or attach'),
('sessions', 'start_ns', 'integer', 'ns since 1970',
 'CLOCK_REALTIME at the start; add a start column to get wall-clock time'),
('sessions', 'end_ns', 'integer', 'ns since 1970', 'CLOCK_REALTIME at the end'),
('sessions', 'duration', 'integer', 'ns', 'end - start'),
('sessions', 'boot_ns', 'integer', 'ns since boot', 'CLOCK_BOOTTIME at the start: the clock of rocprofv3'),
('sessions', 'host', 'text', '', 'name of the machine'),
('sessions', 'kernel', 'text', '', 'release of the operating system kernel'),
('sessions', 'boot_id', 'text', '', 'boot of that machine'),
('sessions', 'cwd', 'text', '', 'working directory'),
('sessions', 'command', 'text', '',
 'command line; secrets in it (--token x, --api-key=x, user:password@) are redacted'),
('sessions', 'fade_version', 'text', '', 'fade that recorded it'),
('sessions', 'options', 'text', '',
 'options as they were typed, with those of configuration files and the environment in front'),
('sessions', 'detail', 'text', '', 
 'stats, calls or full; or a list with the level of all other groups first: calls,mem=full,sync=stats (view '
 || 'detail_levels)'),
('sessions', 'clean', 'integer', '', '1: closed in order; 0: still recording, or cut off'),
('lifecycle', '', '', '', 'What happened to processes and threads'),
('lifecycle', 'id', 'integer', '', 'row id'),
('lifecycle', 'session', 'integer', '', 'sessions.id'),
('lifecycle', 'start', 'integer', 'ns', 'when'),
('lifecycle', 'pid', 'integer', '', 'process id of the operating system'),
('lifecycle', 'tid', 'integer', '', 'thread id of the operating system'),
('lifecycle', 'kind', 'text', '',
 'fork, vfork, exec, attach, detach, recording started, recording stopped, unwatched, refused, note ...; ends of '
 || 'processes are in processes, libraries in modules. untraced: a process or thread that the kernel kept from fade '
 || '(CLONE_UNTRACED); locked: another process had the database locked; vanished: the program took out breakpoints, '
 || 'and calls are missing; tapped: a function that is called often is recorded without stops from now on; untapped: '
 || 'it was quiet, and has its breakpoint again; not tapped: it is called often, and why it stops at each call; '
 || 'budget: a function is recorded with less or more detail (view budgets); over budget: nothing more can be saved; '
 || 'detail: rows of calls are stored from now on (value 1), or only sums (0; view detail_times); trigger: what asked '
 || 'for rows; mark: fadectl mark'),
('lifecycle', 'value', 'integer', '',
 'depends on kind: child, thread, status, signal, calls not recorded, breakpoints, calls a second ...'),
('lifecycle', 'detail', 'text', '', 'depends on kind'),
('drops', '', '', '', 'What is missing from this file, and why'),
('drops', 'id', 'integer', '', 'row id'),
('drops', 'session', 'integer', '', 'sessions.id'),
('drops', 'start', 'integer', 'ns', 'from when on'),
('drops', 'duration', 'integer', 'ns', 'for how long'),
('drops', 'n', 'integer', '', 'how many calls'),
('drops', 'reason', 'text', '', 'why');
