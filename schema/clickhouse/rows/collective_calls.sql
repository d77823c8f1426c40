-- Collective operations of communicators of all ranks.
-- section: rows
WITH {operations}
SELECT * FROM operation
