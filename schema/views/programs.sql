-- Processes and threads, and the files and functions in them.

CREATE VIEW processes AS
SELECT p.id, p.session, p.parent AS parent_id, p.pid, p.ppid, p.uid, p.exe, p.command, p.ts AS start, p.ts_end AS "end",
       p.ts_end - p.ts AS duration, p.exit_code, p.exit_signal, p.env,
       (SELECT count(*) FROM thread_ t WHERE t.process = p.id) AS threads, r.rank
FROM process_ p
LEFT JOIN process_ranks r ON r.process_id = p.id;

CREATE VIEW threads AS
SELECT t.id, p.session, t.process AS process_id, p.pid, t.tid, t.name, t.ts AS start, t.ts_end AS "end",
       coalesce(s.calls, 0) AS calls, coalesce(s.errors, 0) AS errors, coalesce(s.total, 0) AS total_ns, r.rank
FROM thread_ t
JOIN process_ p ON p.id = t.process
LEFT JOIN process_ranks r ON r.process_id = p.id
LEFT JOIN (
  SELECT x.thread, sum(x.n) AS calls, sum(x.errors) AS errors,
         sum(iif(x.parent_fn = 0 AND x.total >= (x.n - x.counted) * l.least_ns, x.total, 0)) AS total
  FROM call_stat_ x
  JOIN least_durations l ON l.function_id = x.fn
  GROUP BY x.thread) s ON s.thread = t.id;

CREATE VIEW modules AS
SELECT m.id, p.session, p.pid, m.path, m.soname, m.role, m.version, m.build_id, m.sites, m.base,
       iif(m.base IS NULL, NULL, printf('0x%x', m.base)) AS base_hex, m.size, m.ts AS start, m.ts_end AS "end"
FROM module_ m
JOIN process_ p ON p.id = m.process;

CREATE VIEW functions AS
SELECT f.id, f.session, f.name, f.api, f.grp AS "group", f.kind, f.library, f.arg_names, f.result_type,
       coalesce(s.calls, 0) AS calls, coalesce(s.errors, 0) AS errors
FROM function_ f
LEFT JOIN (SELECT fn, sum(n) AS calls, sum(errors) AS errors FROM call_stat_ GROUP BY fn) s ON s.fn = f.id;

CREATE VIEW function_names AS
SELECT n.fn AS function_id, f.session, f.name, n.name AS other_name
FROM function_name_ n
JOIN function_ f ON f.id = n.fn;

CREATE VIEW callers AS
SELECT c.id, p.session, p.pid, c.library, c.offset, iif(c.offset IS NULL, NULL, printf('0x%x', c.offset)) AS offset_hex,
       c.symbol, c.address, iif(c.address IS NULL, NULL, printf('0x%x', c.address)) AS address_hex
FROM call_site_ c
JOIN process_ p ON p.id = c.process;
