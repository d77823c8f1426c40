-- Launches that follow each other as fast as the host makes them, and a GPU that is done sooner. Without the time that
-- fade's own stops may explain.
SELECT session, pid, device, 'gpu-idle-launch', 'warning', coalesce('device ' || device, 'a device'),
       printf('Between %d works the GPU had nothing to do: %.3f s of %.3f s. The thread of the next work launched '
              || 'one after the other. fade''s own stops explain at most %.3f s. %s',
              n, total_ns / 1e9, duration / 1e9, own_ns / 1e9, doubt),
       'The program is bound by launches. Launch a graph (hipGraph, torch.cuda.graph) instead of single kernels, fuse '
       || 'small kernels (torch.compile), or make batches larger. fade-query gpu-delays shows how soon kernels started, '
       || 'fade-query top --gpu how long they took.'
FROM losses
WHERE cause = 'launch' AND n >= 100 AND share >= 0.2
