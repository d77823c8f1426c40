-- How many copies of the properties of each device programs hold, and how many of them --set does not reach.
SELECT pid, device, coalesce(name, layout) AS name, count(*) AS copies,
       count(iif(differing > 0 AND (changed IS NULL OR put_back IS NOT NULL), 1, NULL)) AS kept,
       count(changed) AS changed, count(put_back) AS put_back,
       count(iif(changed IS NOT NULL AND put_back IS NULL AND problem IS NOT NULL, 1, NULL)) AS left_changed
FROM cached_copies
WHERE session = coalesce(:session, session)
GROUP BY pid, device, coalesce(name, layout)
ORDER BY pid, device
LIMIT 16
