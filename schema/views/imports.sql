-- Files of other profilers that were taken into the recording, and the operators that they told.

CREATE VIEW imports AS
SELECT id, session, file, format, clock, shift AS shift_ns, spread AS spread_ns, calls, matched, works, tied, operators,
       elsewhere
FROM import_;

CREATE VIEW operators AS
SELECT o.id, p.session, i.format AS source, p.pid, t.tid, n.name, o.ts AS start, o.ts + o.dur AS "end",
       o.dur AS duration, o.self AS self_ns, o.up AS parent_id, o.works, o.gpu AS gpu_ns, o.thread AS thread_id,
       o.process AS process_id
FROM operator_ o
JOIN operator_name_ n ON n.id = o.name
JOIN process_ p ON p.id = o.process
JOIN thread_ t ON t.id = o.thread
JOIN import_ i ON i.id = o.import;

CREATE VIEW operator_stats AS
SELECT p.session, p.id AS process_id, p.pid, n.name, s.n, s.total AS total_ns, s.self AS self_ns, s.max AS max_ns,
       s.works, s.gpu AS gpu_ns
FROM operator_stat_ s
JOIN operator_name_ n ON n.id = s.name
JOIN process_ p ON p.id = s.process;
