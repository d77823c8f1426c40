-- A GPU that waits for a thread which neither launches nor waits.
SELECT session, pid, device, 'gpu-idle-host', 'warning', coalesce('device ' || device, 'a device'),
       printf('%d times the GPU had nothing to do: %.3f s of %.3f s. The thread that put the next work to run did neither '
              || 'launch nor wait. fade''s own stops explain at most %.3f s. %s',
              n, total_ns / 1e9, duration / 1e9, own_ns / 1e9, doubt),
       'Work on the host lies between works of the GPU: loading of data, Python code, writing of files. Do it ahead in '
       || 'other threads or processes (DataLoader workers, prefetching). fade-query gpu-idle shows the longest times, '
       || 'fade-query idle and fade-query samples (fade-run --sample) what the host did.'
FROM losses
WHERE cause = 'host' AND n >= 10 AND share >= 0.2
