-- Memory in use by fade's ledger: in each thousandth of a second with a change its highest, and then its last value.
SELECT session, pid, coalesce('GPU ' || device || ': ', '') || kind || ' memory' AS counter,
       1 AS is_bytes, ms * 1000000 AS start,
       ms * 1000000 AS "end", peak AS value, NULL AS tid
FROM memory_timeline
WHERE peak > used
UNION ALL
SELECT session, pid, coalesce('GPU ' || device || ': ', '') || kind || ' memory', 1, ms * 1000000 + 999999,
       ms * 1000000 + 999999, used, NULL
FROM memory_timeline
