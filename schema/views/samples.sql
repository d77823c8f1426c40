-- ---------------------------------------------------------------- samples
CREATE VIEW samples AS
SELECT p.session, p.id AS process_id, p.pid, t.tid, x.thread AS thread_id, x.ts AS start, x.stack,
       substr(f.file, 1 + length(rtrim(f.file, replace(f.file, '/', '')))) || ':' || coalesce(f.line, '?') AS user_line,
       f.name AS function, f.file, f.line
FROM sample_ x JOIN thread_ t ON t.id = x.thread JOIN process_ p ON p.id = t.process LEFT JOIN frame_ f ON f.id = x.frame;
