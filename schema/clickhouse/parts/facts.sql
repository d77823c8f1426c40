-- Facts of machines that should be equal in a job, a row for each recording.
SELECT job, host, recording, 'versions' AS section, if(ifNull(soname, '') = '', path, assumeNotNull(soname)) AS item,
  '' AS unit,
  if(ifNull(version, '') = '', ifNull(build_id, ''), assumeNotNull(version)) AS value
FROM modules WHERE (ifNull(version, '') != '' OR ifNull(build_id, '') != '') AND role != 'program' /*? AND job = :job */
UNION ALL
SELECT job, host, recording, 'versions', 'fade', '', fade_version FROM recordings WHERE 1 /*? AND job = :job */
UNION ALL
SELECT job, host, recording, 'kernel', 'Linux', '', kernel FROM recordings WHERE 1 /*? AND job = :job */
UNION ALL
SELECT job, host, recording, 'driver', fact, ifNull(unit, ''), assumeNotNull(driver) FROM device_facts
WHERE driver IS NOT NULL /*? AND job = :job */
UNION ALL
SELECT job, host, recording, 'told', fact, ifNull(unit, ''), assumeNotNull(coalesce(received, told)) FROM device_facts
WHERE coalesce(received, told) IS NOT NULL /*? AND job = :job */
UNION ALL
SELECT job, host, recording, 'sensors', 'clock', 'MHz', if(low < 0, 'as usual', toString(low)) FROM (
  SELECT job, b.1 AS host, b.2 AS recording, if(b.3 < 0.95 * usual, toInt64(round(b.3)), toInt64(-1)) AS low FROM (
    SELECT job, groupArray((host, recording, clock)) AS each, quantileExact(0.5)(clock) AS usual FROM (
      SELECT job, host, recording, node, assumeNotNull(avg(mhz)) AS clock FROM gpu_samples
      WHERE mhz > 0 /*? AND job = :job */ GROUP BY job, host, recording, node)
    GROUP BY job) ARRAY JOIN each AS b)
