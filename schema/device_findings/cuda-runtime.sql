-- NVIDIA's CUDA runtime, whose calls are not recorded: as a library, or linked into a module.
SELECT session, pid, NULL, 'cuda-runtime', 'info', path,
       iif(inside,
           printf('%s has CUDA kernels, and NVIDIA''s CUDA runtime linked into it. Its calls of that runtime (cuda...) '
                  || 'pass no library and cannot be recorded; what the runtime asks of the driver API (cu...) is.',
                  path),
           printf('%s is NVIDIA''s CUDA runtime. Its functions (cuda...) are not recorded; what they ask of the driver '
                  || 'API (cu...) is.',
                  path)),
       'In fade-query cuda, gaps, flow and errors a CUDA program begins with the driver API: look for the cu... '
       || 'function behind a cuda... function.'
       || iif(inside, ' Built with nvcc -cudart shared, fade-query redirects also shows who calls the runtime.', '')
FROM (
  SELECT p.session, p.pid, m.path, 0 AS inside
  FROM module_ m
  JOIN process_ p ON p.id = m.process
  WHERE m.role = 'cudart'
  UNION
  SELECT p.session, p.pid, l.detail, 1
  FROM lifecycle_ l
  JOIN process_ p ON p.id = l.process
  WHERE l.kind = 'static-cudart')
