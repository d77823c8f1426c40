-- What watching cost: stops of threads, by function
-- about: A thread is held from the moment fade hears of its stop until it lets it go on; the kernel's own part of a stop comes on top.
-- sort: -held_ns
-- limit: 30
-- column: name             text      function
-- column: stops            count     how often a thread was stopped for it
-- column: held_ns          duration  how long threads were held, all together
-- column: per_stop_ns      duration  for each stop
-- column: percent          percent   of all held time
-- column: percent_of_wall  number    held time by the length of the recording; several threads can add up to more than 100
SELECT o.name, sum(o.stops) AS stops, sum(o.held_ns) AS held_ns, sum(o.held_ns) / nullif(sum(o.stops), 0) AS per_stop_ns,
       round(100.0 * sum(o.held_ns) / nullif(sum(sum(o.held_ns)) OVER (), 0), 1) AS percent,
       round(100.0 * sum(o.held_ns) / nullif(max(s.duration), 0), 2) AS percent_of_wall
FROM overhead o JOIN sessions s ON s.id = o.session
WHERE true /*? AND o.session = :session */ /*? AND o.name REGEXP :name */
GROUP BY o.name
UNION ALL
SELECT '(stacks, within the above)', sum(c.n), sum(c.ns), sum(c.ns) / sum(c.n),
       round(100.0 * sum(c.ns) / nullif((SELECT sum(a.held_ns) FROM overhead a WHERE true /*? AND a.session = :session */), 0), 1),
       round(100.0 * sum(c.ns) / nullif(max(c.duration), 0), 2)
FROM (SELECT max(iif(l.kind = 'stacks taken', l.value, 0)) AS n, max(iif(l.kind = 'stacks time', l.value, 0)) AS ns, s.duration
      FROM lifecycle l JOIN sessions s ON s.id = l.session
      WHERE l.kind IN ('stacks taken', 'stacks time') /*? AND l.session = :session */
      GROUP BY l.session) c
WHERE true /*? AND '(stacks, within the above)' REGEXP :name */
HAVING sum(c.n) > 0
