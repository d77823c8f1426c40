-- Rules that fail, delay and change calls: where they applied, and their effect
-- sort: spec
-- leave: origin seed last_ns first_ns call_id caller tid
-- none: no rule of --inject or --replace failed, delayed or changed a call
-- question: happened
-- topic: errors
-- record: --inject 'RULES'
-- column: spec      text   the rule as it was given
-- column: origin    text   --inject, --replace or FILE:LINE:COLUMN
-- column: pid       id     process
-- column: name      text   function
-- column: action    text   error, late error, sticky error, last error, delay, environment, or the argument that was
--   replaced
-- column: hits      count  how often it was applied like this
-- column: was       text   value before; empty for a call that was skipped
-- column: became    text   error, time or value that it became
-- column: caller    text   where the calls came from
-- column: tid       id     thread of the first one
-- column: call_id   id     id of the first call
-- column: first_ns  time   first application
-- column: last_ns   time   last application
-- column: seed      id     of chance=
-- column: unused    yesno  never applied
SELECT i.spec, i.origin, h.pid, h.name, coalesce(h.action, i.action) AS action,
       coalesce(sum(h.n), 0) AS hits, h.was, h.became,
       coalesce(h.caller, h.caller_library) AS caller, h.tid, min(h.call_id) AS call_id, min(h.first) AS first_ns,
       max(h.last) AS last_ns, i.seed, h.id IS NULL AS unused
FROM injections i LEFT JOIN injection_hits h ON h.rule_id = i.id /*? AND h.pid = :pid */
    /*? AND (h.session, h.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND h.tid = :tid */
WHERE true /*? AND i.session = :session */ /*? AND (i.spec REGEXP :name OR h.name REGEXP :name) */
GROUP BY i.id, h.pid, h.name, h.action, h.was, h.became, h.caller, h.caller_library
