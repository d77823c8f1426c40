-- A GPU without kernels because of copies: while they run alone, and while the host comes back from them.
SELECT session, pid, device, 'gpu-idle-copy', 'warning', coalesce('device ' || device, 'a device'),
       printf('For %.3f s of %.3f s copies ran and no kernel; %d times the host came back from a copy and the GPU had '
              || 'nothing to do until then, %.3f s. fade''s own stops explain at most %.3f s of these. %s',
              alone_ns / 1e9, duration / 1e9, n, total_ns / 1e9, own_ns / 1e9, doubt),
       'Copy from pinned memory with hipMemcpyAsync on a stream of its own (pin_memory=True, non_blocking=True), so that '
       || 'copies run beneath kernels; leave on the device what the next kernel needs. fade-query gpu-copies shows '
       || 'directions and GB/s, fade-query gpu the overlap.'
FROM losses
WHERE cause = 'copy' AND share >= 0.2
