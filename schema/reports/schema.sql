-- The views of the database and their columns, for writing SQL
-- about: schema VIEW shows one of them.
-- none: there is no such view
-- question: own
-- topic: file
-- column: view         text  name of the view
-- column: column       text  empty: the view itself
-- column: type         text  INTEGER, TEXT, REAL or BLOB
-- column: unit         text  ns, bytes ...
-- column: description  text  what it is
SELECT d.view, d."column", d.type, d.unit, d.text AS description
FROM doc_ d LEFT JOIN pragma_table_info(d.view) i ON i.name = d."column"
WHERE true /*? AND d.view = :word */
ORDER BY d.view, coalesce(i.cid, -1)
