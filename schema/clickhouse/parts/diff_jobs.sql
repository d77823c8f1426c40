-- The values that fade-query --on URL diff JOB JOB compares: those of fade-query diff (schema/reports/page_diff.sql), a
-- row for each job and value. numbers: of the recordings that have it. text: the different ones, at most eight.
SELECT toUInt8(job = :after) AS is_after, place, section, item, unit, groupArrayIf(number, unit != '') AS numbers,
  concat(arrayStringConcat(arraySlice(arraySort(groupUniqArrayIf(word, unit = '')) AS words, 1, 8), '; '),
    if(length(words) > 8, concat('; and ', toString(length(words) - 8), ' more'), '')) AS text
FROM (
  SELECT job, recording, w.1 AS place, w.2 AS section, w.3 AS item, w.4 AS unit, w.5 AS number, w.6 AS word
  FROM (
    SELECT job, recording, [
        (toUInt8(1), 'run', 'duration', 'ns', toFloat64(ifNull(duration, -1)), ''),
        (toUInt8(1), 'run', 'processes', 'n', toFloat64(processes), ''),
        (toUInt8(1), 'run', 'calls', 'n', toFloat64(calls), ''),
        (toUInt8(1), 'run', 'verdict', '', toFloat64(0), ifNull(verdict, '')),
        (toUInt8(12), 'fade', 'version', '', toFloat64(0), fade_version),
        (toUInt8(12), 'fade', 'options', '', toFloat64(0), options),
        (toUInt8(12), 'fade', 'machine', '', toFloat64(0), concat(host, ', Linux ', kernel))] AS each
    FROM recordings WHERE job IN (:before, :after)
    UNION ALL
    SELECT job, recording, [
        (toUInt8(2), 'steps', 'number', 'n', toFloat64(count()), ''),
        (toUInt8(2), 'steps', 'mean duration', 'mean ns', floor(avg(assumeNotNull(duration))), '')]
    FROM steps WHERE complete = 1 AND job IN (:before, :after) GROUP BY job, recording
    UNION ALL
    SELECT job, recording, [
        (toUInt8(1), 'run', 'time in calls', 'ns', toFloat64(sum(ifNull(self_ns, 0))), '')]
    FROM call_stats WHERE job IN (:before, :after) GROUP BY job, recording
    UNION ALL
    SELECT job, recording, [
        (toUInt8(3), 'time in functions', name, 'ns', toFloat64(sum(ifNull(self_ns, 0))), ''),
        (toUInt8(4), 'calls of functions', name, 'n', toFloat64(sum(calls)), '')]
    FROM call_stats WHERE job IN (:before, :after) GROUP BY job, recording, name
    UNION ALL
    SELECT job, recording, [
        (toUInt8(1), 'run', 'kernel launches', 'n', toFloat64(sum(launches - ifNull(in_graphs, 0))), '')]
    FROM kernel_runs WHERE job IN (:before, :after) GROUP BY job, recording
    UNION ALL
    SELECT job, recording, [
        (toUInt8(5), 'launches', concat(name, ' <', shape, '>'), 'n', toFloat64(sum(launches - ifNull(in_graphs, 0))),
          '')]
    FROM (
      SELECT job, recording, name, launches, in_graphs, concat(
        toString(ifNull(grid_x, 0)), 'x', toString(ifNull(grid_y, 0)), 'x', toString(ifNull(grid_z, 0)), ', ',
        toString(ifNull(block_x, 0)), 'x', toString(ifNull(block_y, 0)), 'x', toString(ifNull(block_z, 0))) AS shape
      FROM kernel_runs WHERE job IN (:before, :after))
    GROUP BY job, recording, name, shape
    UNION ALL
    SELECT job, recording, [
        (toUInt8(6), 'GPU time', concat(kind, ' ', name), 'ns', toFloat64(sum(ifNull(total_ns, 0))), '')]
    FROM gpu_stats WHERE job IN (:before, :after) GROUP BY job, recording, kind, name
    UNION ALL
    SELECT job, recording, [
        (toUInt8(6), 'GPU time',
          concat('busy', if(device IS NULL, '', concat(', device ', toString(assumeNotNull(device))))), 'ns',
          toFloat64(sum(ifNull(busy_ns, 0))), '')]
    FROM gpu_busy WHERE job IN (:before, :after) GROUP BY job, recording, device
    UNION ALL
    SELECT job, recording, [
        (toUInt8(7), 'memory', concat(place_, ', peak of a process'), 'bytes', toFloat64(max(ifNull(peak, 0))), ''),
        (toUInt8(7), 'memory', concat(place_, ', left at the end'), 'bytes', toFloat64(sum(ifNull(live_at_end, 0))),
          ''),
        (toUInt8(7), 'memory', concat(place_, ', allocated'), 'bytes', toFloat64(sum(ifNull(allocated, 0))), '')]
    FROM (
      SELECT job, recording, peak, live_at_end, allocated, multiIf(memory != 'device', 'host', device IS NULL,
        'unknown device', concat('device ', toString(assumeNotNull(device)))) AS place_
      FROM memory_totals WHERE job IN (:before, :after))
    GROUP BY job, recording, place_
    UNION ALL
    SELECT job, recording, [
        (toUInt8(8), 'copies', concat(direction, if(ifNull(async, 0) > 0, ' async', '')), 'bytes',
          toFloat64(sum(ifNull(bytes, 0))), '')]
    FROM copy_stats WHERE job IN (:before, :after) GROUP BY job, recording, direction, async
    UNION ALL
    SELECT job, recording, [
        (toUInt8(1), 'run', 'failed calls', 'n', toFloat64(sum(ifNull(repeats, 0))), '')]
    FROM failures WHERE NOT ifNull(normal, 0) AND job IN (:before, :after) GROUP BY job, recording
    UNION ALL
    SELECT job, recording, [
        (toUInt8(9), 'errors', concat(name, ': ', failure), 'n', toFloat64(sum(ifNull(repeats, 0))), '')]
    FROM (SELECT job, recording, name, repeats, ifNull(error, toString(ifNull(code, 0))) AS failure FROM failures
          WHERE NOT ifNull(normal, 0) AND job IN (:before, :after))
    GROUP BY job, recording, name, failure
    UNION ALL
    SELECT job, recording, [
        (toUInt8(10), 'libraries', if(ifNull(soname, '') = '', splitByChar('/', path)[-1], assumeNotNull(soname)), '',
          toFloat64(0), concat(path, if(ifNull(version, '') = '', '', concat(' (', assumeNotNull(version), ')')),
            if(ifNull(build_id, '') = '', '', concat(', build id ', substring(assumeNotNull(build_id), 1, 12)))))]
    FROM modules WHERE role != '' AND job IN (:before, :after)
    UNION ALL
    SELECT job, recording, [
        (toUInt8(11), 'told properties', concat('device ', toString(device), ' ', fact), '', toFloat64(0),
          assumeNotNull(coalesce(received, told)))]
    FROM device_facts WHERE coalesce(received, told) IS NOT NULL AND job IN (:before, :after))
  ARRAY JOIN each AS w
  WHERE number >= 0 AND (unit != '' OR word != ''))
GROUP BY is_after, place, section, item, unit
ORDER BY place, section, item, is_after
