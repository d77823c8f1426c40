-- What was not recorded, and why
-- sort: start_ns
-- none: nothing was lost: every event was recorded
-- partly: nothing that was asked for was lost; not everything was asked for, or seen
-- question: complete
-- topic: calls
-- column: start_ns     time      from when
-- column: duration_ns  duration  for how long
-- column: n            count     events
-- column: reason       text      why
SELECT start AS start_ns, duration AS duration_ns, n, reason
FROM drops
WHERE true /*? AND session = :session */ /*? AND start + duration >= :from */ /*? AND start < :to */
