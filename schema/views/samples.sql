-- The line is of frame, which the recorder chose as user_frames does; with --skip-frames fade-query reads user_frames
-- at the comment.
CREATE VIEW samples AS
SELECT p.session, p.id AS process_id, p.pid, t.tid, x.thread AS thread_id, x.ts AS start, x.stack,
       f.place || ':' || coalesce(f.line, '?') AS user_line, f.function, f.file, f.line
FROM sample_ x
JOIN thread_ t ON t.id = x.thread
JOIN process_ p ON p.id = t.process
LEFT JOIN frame_places f ON f.frame = x.frame/*user-frame*/;
