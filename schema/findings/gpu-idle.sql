-- A GPU without kernels, by cause. gpu-idle-copy: while copies run alone, and while the host comes back from them.
-- gpu-idle-host: its thread neither launches nor waits. gpu-idle-launch: launches follow each other as fast as the host
-- makes them, and the GPU is done sooner. gpu-idle-sync: the host waits for the GPU, and gives it new work only
-- afterwards. Without the time that fade's own stops may explain. One SELECT for all, because SQLite compiles the view
-- again in each place that names it.
SELECT session, pid, device,
       CASE cause
         WHEN 'copy' THEN 'gpu-idle-copy'
         WHEN 'host' THEN 'gpu-idle-host'
         WHEN 'launch' THEN 'gpu-idle-launch'
         ELSE 'gpu-idle-sync' END,
       'warning', coalesce('device ' || device, 'a device'),
       CASE cause
         WHEN 'copy'
           THEN printf('For %.3f s of %.3f s copies ran and no kernel; %d times the host came back from a copy and the '
                       || 'GPU had nothing to do until then, %.3f s.',
                       alone_ns / 1e9, duration / 1e9, n, total_ns / 1e9)
         WHEN 'host'
           THEN printf('%d times the GPU had nothing to do: %.3f s of %.3f s. The thread that put the next work to run '
                       || 'did neither launch nor wait.', n, total_ns / 1e9, duration / 1e9)
         WHEN 'launch'
           THEN printf('Between %d works the GPU had nothing to do: %.3f s of %.3f s. The thread of the next work '
                       || 'launched one after the other.', n, total_ns / 1e9, duration / 1e9)
         ELSE printf('%d times the GPU was done while the host waited for it in a synchronising call. It had nothing '
                     || 'to do until the host came back: %.3f s of %.3f s.', n, total_ns / 1e9, duration / 1e9) END
       || printf(' fade''s own stops explain at most %.3f s%s. %s', own_ns / 1e9, iif(cause = 'copy', ' of these', ''),
                 doubt),
       CASE cause
         WHEN 'copy'
           THEN 'Copy from pinned memory with hipMemcpyAsync on a stream of its own (pin_memory=True, '
                || 'non_blocking=True), so that copies run beneath kernels; leave on the device what the next kernel '
                || 'needs. fade-query gpu-copies shows directions and GB/s, fade-query gpu the overlap.'
         WHEN 'host'
           THEN 'Work on the host lies between works of the GPU: loading of data, Python code, writing of files. Do it '
                || 'ahead in other threads or processes (DataLoader workers, prefetching). fade-query gpu-idle shows '
                || 'the longest times, fade-query idle and fade-query samples (fade-run --sample) what the host did.'
         WHEN 'launch'
           THEN 'The program is bound by launches. Launch a graph (hipGraph, torch.cuda.graph) instead of single '
                || 'kernels, fuse small kernels (torch.compile), or make batches larger. fade-query gpu-delays shows '
                || 'how soon kernels started, fade-query top --gpu how long they took.'
         ELSE 'Wait less often: read losses and norms every hundredth step, use events and streams instead of waiting '
              || 'for the whole device. fade-query gpu-idle shows the longest times with your own lines, fade-query '
              || 'waits --by-line all places that wait.' END
FROM gpu_losses
WHERE share >= 0.2 AND n >= CASE cause WHEN 'copy' THEN 0 WHEN 'launch' THEN 100 ELSE 10 END
