-- Products of matrices that were computed again (--check blas).

CREATE VIEW blas_checks AS
SELECT c.id, p.session, p.pid, t.tid, c.ts AS at, f.name,
       CASE WHEN c.problem IS NOT NULL THEN 'not compared' WHEN c.differing > 0 THEN 'differs' ELSE 'same' END
         AS outcome,
       c.type, c.ops, c.m, c.n, c.k, c.batch, c.checked AS checked_matrices, c.bytes, c.elements, c.differing,
       c.at_row AS first_row, c.at_column AS first_column, c.at_matrix AS first_matrix, c.got AS first_got,
       c.wanted AS first_wanted, c.worst, c.allowed, c.shown, c.problem, c.folder, c.blas, c.held_ns AS held,
       c.call AS call_id, c.caller AS caller_id, c.stack, c.step AS step_id, s.idx AS step, p.id AS process_id
FROM check_ c
JOIN thread_ t ON t.id = c.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = c.fn
LEFT JOIN step_ s ON s.id = c.step;

CREATE VIEW blas_unchecked AS
SELECT p.session, p.id AS process_id, p.pid, f.name, x.reason, x.calls
FROM check_left_ x
JOIN process_ p ON p.id = x.process
JOIN function_ f ON f.id = x.fn;
