-- Rules that overwrite results: where they applied, what was there and what it became
-- sort: spec
-- leave: origin last_ns first_ns value target caller
-- none: no rule overwrote a result
-- question: devices
-- topic: processes
-- record: --set 'RULES'
-- column: spec      text   the rule as it was given
-- column: target    text   field that was written, or that the rule names
-- column: device    id     as the process numbers it
-- column: value     text   of the rule
-- column: origin    text   --set or FILE:LINE
-- column: hits      count  how often it was applied like this
-- column: was       text   what the runtime had answered
-- column: became    text   what the program received
-- column: caller    text   who asked
-- column: first_ns  time   first application
-- column: last_ns   time   last application
-- column: unused    yesno  never applied
SELECT o.spec, coalesce(h.target, o.target) AS target, h.device, o.value,
       o.origin, coalesce(sum(h.n), 0) AS hits, h.was, h.became,
       coalesce(h.caller, h.caller_library) AS caller, min(h.first) AS first_ns,
       max(h.last) AS last_ns, h.id IS NULL AS unused
FROM overrides o LEFT JOIN override_hits h ON h.rule_id = o.id /*? AND h.pid = :pid */
    /*? AND (h.session, h.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND h.tid = :tid */
     /*? AND h.device = :device */
WHERE true /*? AND o.session = :session */ /*? AND o.spec REGEXP :name */
GROUP BY o.id, h.target, h.device, h.was, h.became, h.caller, h.caller_library
