-- How processes died or hung, and what they did then.

-- kind: signal, exit (by itself, with calls running), hang, snapshot. thread: the thread that got the signal or ended
-- the process. code, sender: of siginfo_t; NULL: unknown. address: of a fault. cause: stack (overflow), self, oom, oom?
-- if known; evidence: the evidence for it. quiet: time since a call had begun or ended.
CREATE TABLE postmortem_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, process INTEGER NOT NULL, thread INTEGER, ts INTEGER NOT NULL,
  kind TEXT NOT NULL, signal INTEGER, code INTEGER, address INTEGER, sender INTEGER, sender_uid INTEGER,
  sender_name TEXT, exit_code INTEGER, quiet INTEGER, cause TEXT, evidence TEXT) STRICT;

-- doing: running, or the system call. symbol: enclosing function +offset; offset: from the module's load address.
-- earlier: calls that were running when fade attached.
CREATE TABLE postmortem_thread_ (
  postmortem INTEGER NOT NULL, thread INTEGER NOT NULL, ts INTEGER NOT NULL, doing TEXT, module INTEGER,
  address INTEGER, offset INTEGER, symbol TEXT, stack INTEGER, earlier TEXT,
  PRIMARY KEY (postmortem, thread)) STRICT, WITHOUT ROWID;

-- Calls that were running then; parent: the call around it.
CREATE TABLE postmortem_call_ (
  postmortem INTEGER NOT NULL, call INTEGER NOT NULL, thread INTEGER NOT NULL, fn INTEGER NOT NULL, parent INTEGER,
  ts INTEGER NOT NULL, caller INTEGER, args TEXT,
  PRIMARY KEY (postmortem, call)) STRICT, WITHOUT ROWID;

-- The last calls that each thread had left; also if calls have no rows.
CREATE TABLE postmortem_last_ (
  postmortem INTEGER NOT NULL, call INTEGER NOT NULL, thread INTEGER NOT NULL, fn INTEGER NOT NULL, ts INTEGER NOT NULL,
  dur INTEGER NOT NULL, returned INTEGER NOT NULL, result INTEGER NOT NULL,
  PRIMARY KEY (postmortem, call)) STRICT, WITHOUT ROWID;

CREATE TABLE postmortem_memory_ (
  postmortem INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL, used INTEGER NOT NULL,
  peak INTEGER NOT NULL,
  PRIMARY KEY (postmortem, device, kind)) STRICT, WITHOUT ROWID;

CREATE TABLE signal_name_ (signal INTEGER PRIMARY KEY, name TEXT NOT NULL, meaning TEXT NOT NULL) STRICT;
INSERT INTO signal_name_ VALUES
(1, 'SIGHUP', 'its terminal was closed'), (2, 'SIGINT', 'interrupted, as by Ctrl-C'),
(3, 'SIGQUIT', 'quit, as by Ctrl-\'), (4, 'SIGILL', 'invalid instruction'), (5, 'SIGTRAP', 'breakpoint'),
(6, 'SIGABRT', 'it gave up by itself: abort()'), (7, 'SIGBUS', 'memory that cannot be accessed'),
(8, 'SIGFPE', 'invalid arithmetic, as a division by zero'), (9, 'SIGKILL', 'killed'),
(10, 'SIGUSR1', 'a signal between programs'), (11, 'SIGSEGV', 'invalid memory access'),
(12, 'SIGUSR2', 'a signal between programs'), (13, 'SIGPIPE', 'nobody reads what it writes'),
(14, 'SIGALRM', 'a timer ran out'), (15, 'SIGTERM', 'asked to end'),
(24, 'SIGXCPU', 'its limit of CPU time was reached'), (25, 'SIGXFSZ', 'its limit of file size was reached'),
(31, 'SIGSYS', 'a system call that it must not make');

-- The meaning of siginfo_t's code for a fault.
CREATE TABLE signal_code_ (
  signal INTEGER NOT NULL, code INTEGER NOT NULL, name TEXT NOT NULL, meaning TEXT NOT NULL,
  PRIMARY KEY (signal, code)) STRICT, WITHOUT ROWID;
INSERT INTO signal_code_ VALUES
(11, 1, 'SEGV_MAPERR', 'nothing is mapped at that address'),
(11, 2, 'SEGV_ACCERR', 'the memory at that address does not allow it'),
(11, 128, 'SI_KERNEL', 'an address that no memory can have'),
(7, 1, 'BUS_ADRALN', 'an address that is not aligned'),
(7, 2, 'BUS_ADRERR', 'nothing is behind that address: the file was cut, or memory has run out'),
(7, 3, 'BUS_OBJERR', 'the hardware reported an error'),
(8, 1, 'FPE_INTDIV', 'a whole number was divided by zero'),
(8, 2, 'FPE_INTOVF', 'a whole number became too large'),
(8, 3, 'FPE_FLTDIV', 'a number was divided by zero'),
(4, 1, 'ILL_ILLOPC', 'an instruction that does not exist'),
(4, 2, 'ILL_ILLOPN', 'an instruction that this processor does not have, or that is none'),
(31, 1, 'SYS_SECCOMP', 'its seccomp filter forbids that system call');
