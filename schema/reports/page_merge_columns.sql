-- The columns of all tables of the new file, in their order. pk: 1 for the first column of the primary key.
SELECT m.name AS table_name, m.sql, c.name AS column_name, c.type, c.pk
FROM main.sqlite_master m
JOIN pragma_table_info(m.name) c
WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*'
ORDER BY m.rowid, c.cid
