-- The first table of the new file that the attached file does not have in the same form.
SELECT m.name
FROM main.sqlite_master m
LEFT JOIN source.sqlite_master s ON s.type = 'table' AND s.name = m.name
WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*' AND s.sql IS NOT m.sql
ORDER BY m.rowid
LIMIT 1
