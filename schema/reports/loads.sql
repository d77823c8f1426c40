-- Libraries and symbols that the program looked up while it ran (dlopen, dlsym), those that are missing first
-- about: From calls of libc (fade-run -e all,loads). A symbol that is missing is often no fault: programs ask for
--   functions of newer libraries.
-- limit: 40
-- leave: pid version total_ns
-- none: nothing was looked up
-- question: happened
-- topic: calls
-- rows: of single calls
-- record: -e all,loads
-- column: name      text   function
-- column: pid       id     process
-- column: wanted    text   file of the library, or the symbol; empty: the program itself
-- column: version   text   version of the symbol (dlvsym)
-- column: found     yesno  whether there was one
-- column: calls     count  how often it was asked for
-- column: total_ns  net    time of these calls; of dlopen with the loading
-- column: caller    text   library that asked
WITH lookup AS MATERIALIZED (
  SELECT id FROM functions WHERE "group" = 'loads'
), asked AS (
  SELECT c.session, c.name, c.pid, c.duration, c.caller_library, c.id,
    coalesce(json_extract(c.args, '$.file'), json_extract(c.args, '$.symbol')) AS wanted,
    json_extract(c.args, '$.version') AS version, c.result <> 0 AS found
  -- without such functions no call is read
  FROM (SELECT 1 FROM lookup LIMIT 1) CROSS JOIN calls c
  WHERE c.function_id IN (SELECT id FROM lookup)
    AND c.state = 'returned' /*? AND c.session = :session */ /*? AND c.pid = :pid */
    /*? AND c.name REGEXP :name */
)
SELECT name, pid, wanted, version, found, count(*) AS calls, sum(duration) AS total_ns, caller_library AS caller
FROM asked GROUP BY session, name, pid, wanted, version, found, caller_library
ORDER BY found, min(id)
