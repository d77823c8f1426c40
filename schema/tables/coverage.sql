-- What was watched, and what was not.

-- The filters of the session. kind: events, include, exclude, kernel-include, kernel-exclude, exe, rank, follow, delay,
-- duration (ns), schedule, window, trigger, detail.
CREATE TABLE filter_ (session INTEGER NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL) STRICT;

-- The functions that fade knows, by API, group and kind. why NULL: watched in each library that has them; else the
-- filter that left them out: events, include, exclude, or hot (off by default). names: the first six functions left
-- out.
CREATE TABLE selection_ (
  session INTEGER NOT NULL, api TEXT NOT NULL, grp TEXT NOT NULL, kind TEXT NOT NULL, why TEXT, n INTEGER NOT NULL,
  names TEXT) STRICT;

-- The functions that a topic of the view watched is about; '*' is any, '-' none: of processes only their life counts.
-- pattern: their names, for messages about one function.
CREATE TABLE topic_ (topic TEXT NOT NULL, api TEXT NOT NULL, kind TEXT NOT NULL, pattern TEXT NOT NULL) STRICT;
INSERT INTO topic_ VALUES
('allocations', 'hip', 'alloc', '*[Aa]lloc*'), ('allocations', 'hip', 'host_alloc', '*[Aa]lloc*'),
('frees', 'hip', 'free', '*Free*'), ('frees', 'hip', 'host_free', '*Free*'), ('memory', 'hip', 'alloc', '*[Aa]lloc*'),
('memory', 'hip', 'host_alloc', '*[Aa]lloc*'), ('memory', 'hip', 'free', '*Free*'),
('memory', 'hip', 'host_free', '*Free*'), ('copies', 'hip', 'copy', '*Memcpy*'), ('copies', 'hip', 'set', '*Memset*'),
('launches', 'hip', 'launch', '*Launch*'), ('launches', 'hip', 'graph', '*Graph*'),
('kernels', 'hip', 'launch', '*Launch*'), ('kernels', 'hip', 'graph', '*Graph*'),
('waits', 'hip', 'sync', '*Synchronize*'), ('waits', 'hip', 'copy', '*Memcpy*'),
('streams', 'hip', 'stream_create', '*StreamCreate*'), ('streams', 'hip', 'stream_destroy', '*StreamDestroy*'),
('graphs', 'hip', 'graph', '*Graph*'), ('modules', 'hip', 'module_load', '*ModuleLoad*'),
('modules', 'hip', 'get_function', '*GetFunction*'), ('devices', 'hip', 'set_device', '*SetDevice*'),
('devices', 'hip', 'get_device', '*GetDevice*'), ('queries', 'hip', 'device_query', '*Device*'),
('ranges', '*', 'range_push', '*Push*'), ('ranges', '*', 'range_pop', '*Pop*'),
('ranges', '*', 'range_start', '*Start*'), ('ranges', '*', 'range_stop', '*Stop*'), ('hip', 'hip', '*', 'hip*'),
('cuda', 'cuda', '*', 'cu*'), ('nvml', 'nvml', '*', 'nvml*'), ('errors', '*', '*', '*'), ('calls', '*', '*', '*'),
('gaps', 'cuda', '*', 'cu*'), ('gaps', 'nvml', '*', 'nvml*'), ('processes', '-', '-', '-');
