-- What differs between the machines of a job: versions, driver, clocks, and what programs were told
-- about: A row for each value that not all machines of a job share, the rarest first. Clocks of sensors differ if they
-- about: are more than 5 % below the median of all.
-- sort: hosts
-- limit: 40
-- leave: job unit
-- none: all machines of each job are alike
-- column: job      text   its job
-- column: section  text   versions, kernel, driver, told, sensors or environment
-- column: item     text   library, fact or sensor
-- column: unit     text   of the value
-- column: value    text   what some machines have
-- column: usual    text   what most have
-- column: hosts    count  machines with the value
-- column: of       count  machines that told any
-- column: ranks    count  recordings with the value
-- column: where    text   the machines, at most eight
SELECT job, section, item, unit, b.1 AS value, usual, length(b.2) AS hosts, of, b.3 AS ranks,
  concat(arrayStringConcat(arraySlice(arraySort(b.2), 1, 8), ','), if(length(b.2) > 8, ',...', '')) AS where
FROM (
  SELECT job, section, item, unit, argMax(value, length(names)) AS usual,
         groupArray((value, names, recordings)) AS each,
    uniqExactArray(names) AS of
  FROM (
    SELECT job, section, item, unit, value, groupUniqArray(host) AS names, uniqExact(recording) AS recordings
    FROM ({facts})
    GROUP BY job, section, item, unit, value)
  GROUP BY job, section, item, unit
  HAVING count() > 1)
ARRAY JOIN each AS b
WHERE value != usual /*? AND match(item, :name) */ /*? AND has(b.2, :host) */
