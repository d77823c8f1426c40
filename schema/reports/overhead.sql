-- What watching cost: stops of threads and tapped calls, by function
-- about: A stop costs the time for which fade holds the thread, and the switches of the kernel around it, which were
--   measured with a child
-- about: when the session began (view call_costs). The view slowdowns has the sums. A tapped call has no stop. The
--   column
-- about: note says why a function that is called often was not tapped.
-- sort: -cost_ns
-- limit: 30
-- none: fade stopped no thread
-- question: complete
-- topic: processes
-- column: name             text      function
-- column: calls            count     recorded and counted calls
-- column: tapped           count     of these, without a stop
-- column: stops            count     how often a thread was stopped for it
-- column: cost_ns          duration  what stops and tapped calls cost, all together: held, and the rest where it was
--   measured
-- column: held_ns          duration  of that, for how long fade held threads
-- column: per_stop_ns      duration  cost of each stop
-- column: percent          percent   of all that stops cost
-- column: percent_of_life  number    cost by the life of the programs; several threads can add up to more than 100
-- column: note             text      why it was not tapped, or costs more than --budget allows
WITH cost AS (SELECT name, calls, tapped, stops, held_ns, coalesce(cost_ns, held_ns) AS cost_ns,
                     session FROM overhead WHERE true /*? AND session = :session */)
SELECT o.name, sum(o.calls) AS calls, sum(o.tapped) AS tapped, sum(o.stops) AS stops,
       sum(o.cost_ns) AS cost_ns, sum(o.held_ns) AS held_ns, sum(o.cost_ns) / nullif(sum(o.stops), 0) AS per_stop_ns,
       round(100.0 * sum(o.cost_ns) / nullif(sum(sum(o.cost_ns)) OVER (), 0), 1) AS percent,
       round(100.0 * sum(o.cost_ns) / nullif(max(s.life_ns), 0), 2) AS percent_of_life,
       (SELECT substr(max(l.detail), length(o.name) + 3) FROM lifecycle l
        WHERE l.kind IN ('not tapped', 'over budget') AND substr(l.detail, 1, length(o.name) + 2) = o.name || ': '
          /*? AND l.session = :session */) AS note
FROM cost o JOIN slowdowns s ON s.session = o.session
WHERE true /*? AND o.name REGEXP :name */
GROUP BY o.name
UNION ALL
SELECT '(stacks, within the above)', NULL, NULL, sum(c.n), sum(c.ns), sum(c.ns), sum(c.ns) / sum(c.n),
       round(100.0 * sum(c.ns) / nullif((SELECT sum(cost_ns) FROM cost), 0), 1),
       round(100.0 * sum(c.ns) / nullif(max(c.life_ns), 0), 2), NULL
FROM (SELECT max(iif(l.kind = 'stacks taken', l.value, 0)) AS n, max(iif(l.kind = 'stacks time', l.value, 0)) AS ns,
             s.life_ns
      FROM lifecycle l JOIN slowdowns s ON s.session = l.session
      WHERE l.kind IN ('stacks taken', 'stacks time') /*? AND l.session = :session */
      GROUP BY l.session) c
WHERE true /*? AND '(stacks, within the above)' REGEXP :name */
HAVING sum(c.n) > 0
