-- Stacks, their frames and the lines of the program.

-- label: the text for a frame, in this order of preference: function, file and offset, address; in brackets the reason
-- for missing frames. system: code around every program's own code: the C and C++ libraries, the loader, and between
-- Python and C the interpreter, ctypes and libffi.
CREATE VIEW frames AS
SELECT f.id, p.session, p.pid, 
       CASE f.kind WHEN 0 THEN 'native' WHEN 1 THEN 'python' WHEN 3 THEN 'libunwind' ELSE 'gap' END AS kind,
       m.path AS library, f.name AS function, f.file, f.line, f.offset,
       iif(f.offset IS NULL, NULL, printf('0x%x', f.offset)) AS offset_hex, f.address,
       printf('0x%x', f.address) AS address_hex,
       CASE
         WHEN f.kind = 2 THEN '[' || coalesce(f.name, 'frames are missing') || ']'
         WHEN f.name IS NOT NULL THEN f.name
         WHEN m.path IS NOT NULL
           THEN replace(m.path, rtrim(m.path, replace(m.path, '/', '')), '') || printf('+0x%x', f.offset)
         ELSE printf('0x%x', f.address) END AS label,
       -- the file's name up to the first dot, without a version
       f.kind IN (0, 3)
       AND (f.name IS '_start'
            OR (m.path IS NOT NULL
                AND rtrim(substr(replace(m.path, rtrim(m.path, replace(m.path, '/', '')), ''), 1,
                                 instr(replace(m.path, rtrim(m.path, replace(m.path, '/', '')), '') || '.', '.') - 1),
                          '0123456789-')
                      IN ('python', 'libpython', '_ctypes', 'libffi', 'libc', 'libpthread', 'ld', 'ld-linux-x',
                          'libstdc++', 'libgcc_s'))) AS system
FROM frame_ f
JOIN process_ p ON p.id = f.process
LEFT JOIN module_ m ON m.id = f.module;

CREATE VIEW inlined_functions AS
SELECT frame, depth, name AS function, file, line
FROM inline_;

CREATE VIEW stack_tree AS
SELECT id AS stack, parent, frame
FROM stack_;

CREATE VIEW stack_calls AS
SELECT stack, call AS call_id
FROM call_stack_;

-- From one stack outwards (not a join with a recursion over all stacks), so that a condition on the stack costs no more
-- than that stack.
CREATE VIEW stack_frames AS
SELECT s.id AS stack, f.session, f.pid, j.key AS depth, f.kind, i.frame IS NOT NULL AS inlined,
       CASE WHEN i.frame IS NULL THEN f.label ELSE coalesce(i.name, '?') END AS label, f.library,
       iif(i.frame IS NULL, f.function, i.name) AS function, iif(i.frame IS NULL, f.file, i.file) AS file,
       iif(i.frame IS NULL, f.line, i.line) AS line, f.offset, f.offset_hex, f.id AS frame
FROM stack_ s
JOIN json_each((WITH RECURSIVE up(parent, frame, n) AS (
                  SELECT s.parent, s.frame, 0
                  UNION ALL
                  SELECT x.parent, x.frame, n + 1
                  FROM up
                  JOIN stack_ x ON x.id = up.parent
                  WHERE n < 10000)
                SELECT '[' || group_concat(place) || ']'
                FROM (
                  SELECT up.frame * 256 + i.depth AS place, n, i.depth AS d
                  FROM up
                  JOIN inline_ i ON i.frame = up.frame
                  WHERE i.depth < 255
                  UNION ALL
                  SELECT up.frame * 256 + 255, n, 255
                  FROM up
                  ORDER BY 2, 3))) j
JOIN frames f ON f.id = j.value / 256
LEFT JOIN inline_ i ON i.frame = f.id AND i.depth = j.value % 256;

-- The three innermost frames of the program's own code (of any code, if it has none), and the innermost line of Python.
-- Each walk has one way to go, so it keeps its order, and it ends when it has found enough.
CREATE VIEW stack_tops AS
SELECT s.id AS stack,
       coalesce((WITH RECURSIVE up(parent, frame, n) AS (
                   SELECT s.parent, s.frame, 0
                   UNION ALL
                   SELECT x.parent, x.frame, n + 1
                   FROM up
                   JOIN stack_ x ON x.id = up.parent
                   WHERE n < 1000)
                 SELECT group_concat(label, ' < ')
                 FROM (SELECT f.label FROM up CROSS JOIN frames f ON f.id = up.frame WHERE NOT f.system LIMIT 3)),
                (WITH RECURSIVE up(parent, frame, n) AS (
                   SELECT s.parent, s.frame, 0
                   UNION ALL
                   SELECT x.parent, x.frame, n + 1
                   FROM up
                   JOIN stack_ x ON x.id = up.parent
                   WHERE n < 2)
                 SELECT group_concat(label, ' < ')
                 FROM (SELECT f.label FROM up JOIN frames f ON f.id = up.frame ORDER BY n))) AS frames,
       (WITH RECURSIVE up(parent, frame, n) AS (
          SELECT s.parent, s.frame, 0
          UNION ALL
          SELECT x.parent, x.frame, n + 1
          FROM up
          JOIN stack_ x ON x.id = up.parent
          WHERE n < 1000)
        SELECT p.place || ':' || coalesce(p.line, '?') || ' ' || coalesce(p.function, '')
        FROM up
        CROSS JOIN frame_places p ON p.frame = up.frame
        WHERE p.python
        LIMIT 1) AS python
FROM stack_ s;

-- The line of a frame in reports. place: relative to the folder of the session if below it, in packages from the
-- package on, else the file's name, with its folder for __init__.py or __main__.py. wrapper: frames of a package, the
-- standard library or the interpreter itself, or a starter in a bin folder; fade-query inserts --skip-frames at the
-- comment.
CREATE VIEW frame_places AS
SELECT f.id AS frame, f.kind = 1 AS python, f.name AS function, f.file, f.line,
       CASE
         WHEN f.file GLOB '*/site-packages/*' THEN substr(f.file, instr(f.file, '/site-packages/') + 15)
         WHEN f.file GLOB '*/dist-packages/*' THEN substr(f.file, instr(f.file, '/dist-packages/') + 15)
         WHEN f.file GLOB '*/lib/python[0-9]*/*' THEN substr(f.file, instr(f.file, '/lib/python') + 5)
         WHEN f.file GLOB '*/lib64/python[0-9]*/*' THEN substr(f.file, instr(f.file, '/lib64/python') + 7)
         WHEN substr(f.file, 1, length(s.cwd) + 1) = s.cwd || '/' THEN substr(f.file, length(s.cwd) + 2)
         WHEN f.file GLOB '*/*/__init__.py' OR f.file GLOB '*/*/__main__.py'
           THEN substr(f.file,
                       1 + length(rtrim(rtrim(rtrim(f.file, replace(f.file, '/', '')), '/'), replace(f.file, '/', ''))))
         ELSE substr(f.file, 1 + length(rtrim(f.file, replace(f.file, '/', '')))) END AS place,
       f.file GLOB '*/site-packages/*' OR f.file GLOB '*/dist-packages/*' OR f.file GLOB '*/lib/python[0-9]*/*'
       OR f.file GLOB '*/lib64/python[0-9]*/*' OR f.file GLOB '*/python[0-9]*.zip/*' OR f.file GLOB '<frozen *'
       OR f.file GLOB '<eval_with_key>*' OR f.file GLOB '<__array_function__*'
       OR (f.file GLOB '*/bin/*' AND f.file NOT GLOB '*.py') /*skip-frames*/ AS wrapper
FROM frame_ f
JOIN process_ p ON p.id = f.process
JOIN session_ s ON s.id = p.session;

-- The most informative frame of each stack: the innermost of Python that is not a wrapper, else the innermost of
-- Python, else the innermost of the program's own code whose file is known. Each walk goes outwards one way and ends at
-- the first match.
CREATE VIEW user_frames AS
SELECT s.id AS stack,
       coalesce((WITH RECURSIVE up(parent, frame, n) AS (
                   SELECT s.parent, s.frame, 0
                   UNION ALL
                   SELECT x.parent, x.frame, n + 1
                   FROM up
                   JOIN stack_ x ON x.id = up.parent
                   WHERE n < 1000)
                 SELECT p.frame
                 FROM up
                 CROSS JOIN frame_places p ON p.frame = up.frame
                 WHERE p.python AND NOT coalesce(p.wrapper, 0)
                 LIMIT 1),
                (WITH RECURSIVE up(parent, frame, n) AS (
                   SELECT s.parent, s.frame, 0
                   UNION ALL
                   SELECT x.parent, x.frame, n + 1
                   FROM up
                   JOIN stack_ x ON x.id = up.parent
                   WHERE n < 1000)
                 SELECT f.id
                 FROM up
                 CROSS JOIN frame_ f ON f.id = up.frame
                 WHERE f.kind = 1
                 LIMIT 1),
                (WITH RECURSIVE up(parent, frame, n) AS (
                   SELECT s.parent, s.frame, 0
                   UNION ALL
                   SELECT x.parent, x.frame, n + 1
                   FROM up
                   JOIN stack_ x ON x.id = up.parent
                   WHERE n < 1000)
                 SELECT f.id
                 FROM up
                 CROSS JOIN frames f ON f.id = up.frame
                 WHERE NOT f.system AND f.file IS NOT NULL
                 LIMIT 1)) AS frame
FROM stack_ s;

CREATE VIEW user_lines AS
SELECT u.stack,
       (SELECT p.place || ':' || coalesce(p.line, '?') || coalesce(' ' || p.function, '')
        FROM frame_places p
        WHERE p.frame = u.frame) AS user_line,
       (SELECT p.file || ':' || coalesce(p.line, '?') FROM frame_places p WHERE p.frame = u.frame) AS file_line,
       (SELECT p.function FROM frame_places p WHERE p.frame = u.frame) AS function
FROM user_frames u;

CREATE VIEW stack_stats AS
SELECT x.stack, f.session, x.fn AS function_id, f.api AS category, f.name, x.n AS calls, x.errors,
       iif(x.total < x.n * coalesce(k.least, 0), 0, x.total) AS total_ns,
       iif(x.self < x.n * coalesce(k.least, 0), 0, x.self) AS self_ns, x.bytes,
       x.first_call AS first_call_id
FROM stack_stat_ x
JOIN function_ f ON f.id = x.fn
LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump';

-- The stacks of calls.
CREATE VIEW stacks AS
SELECT x.stack, x.session, p.pid, x.calls, x.errors, x.total_ns, x.self_ns, x.bytes, x.functions, t.frames, t.python
FROM (
  SELECT stack, min(session) AS session, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns,
         sum(self_ns) AS self_ns, sum(bytes) AS bytes, group_concat(name, ', ') AS functions
  FROM stack_stats
  GROUP BY stack) x
JOIN stack_ s ON s.id = x.stack
JOIN frame_ f ON f.id = s.frame
JOIN process_ p ON p.id = f.process
JOIN stack_tops t ON t.stack = x.stack;
