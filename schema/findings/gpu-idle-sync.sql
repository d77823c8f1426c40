-- A GPU that runs dry because the host waits for it, and gives it new work only afterwards.
SELECT session, pid, device, 'gpu-idle-sync', 'warning', coalesce('device ' || device, 'a device'),
       printf('%d times the GPU was done while the host waited for it in a synchronising call. It had nothing to do '
              || 'until the host came back: %.3f s of %.3f s. fade''s own stops explain at most %.3f s. %s',
              n, total_ns / 1e9, duration / 1e9, own_ns / 1e9, doubt),
       'Wait less often: read losses and norms every hundredth step, use events and streams instead of waiting for the '
       || 'whole device. fade-query gpu-idle shows the longest times with your own lines, fade-query waits --by-line all '
       || 'places that wait.'
FROM losses
WHERE cause = 'sync' AND n >= 10 AND share >= 0.2
