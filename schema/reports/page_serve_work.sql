-- Work of GPUs by its ids: the columns of the view gpu_work cost three times as much.
SELECT id, ts, dur, process, kind, kernel, device, queue, call
FROM gpu_work_
WHERE id BETWEEN :first AND :last AND kind <> 3
ORDER BY id
