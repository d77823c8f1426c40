-- Work at the time when the GPU did it, by queue and stream. Work of no known call has a category of its own.
SELECT session, pid, NULL AS tid,
       'GPU ' || coalesce(device, '?') || coalesce(', queue ' || queue, ', copies')
       || coalesce(', stream ' || stream_id, '') AS lane,
       0 AS folds, 0 AS instant, iif(device IS NULL, 'GPU work of no known call', kind) AS category, name, start, "end",
       call AS flow, device, iif(device IS NULL, NULL, coalesce(stream_id, 0)) AS stream,
       queue AS hsa_queue, call, bytes,
       iif(bytes > 0 AND duration > 0, round(1.0 * bytes / duration, 3), NULL) AS "memory bandwidth (GB/s)"
FROM gpu_work
WHERE kind <> 'barrier' OR NOT :kineto
