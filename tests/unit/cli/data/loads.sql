-- Lookups of libraries and symbols: some are missing, and one failed to end.
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (70, 1, 'dlopen', 'loads', 'loads', 'other', '/lib/libc.so.6', '', 'dl_handle', NULL),
 (71, 1, 'dlsym', 'loads', 'loads', 'other', '/lib/libc.so.6', '', 'void *', NULL);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (80, 6000000000, 900000, 1, 70, 1, NULL, 94000, NULL), (81, 6010000000, 5000, 1, 70, 1, NULL, 0, NULL),
 (82, 6020000000, 1000, 1, 71, 1, NULL, 95000, NULL), (83, 6020010000, 1000, 1, 71, 1, NULL, NULL, NULL),
 (84, 6020020000, 1500, 1, 71, 1, NULL, NULL, NULL), (85, 6030000000, NULL, 1, 70, 1, NULL, NULL, NULL);
INSERT INTO arg_ VALUES
 (80, '{"file":"libm.so.6","mode":"RTLD_NOW"}'), (81, '{"file":"libnothing.so.9","mode":"RTLD_NOW"}'),
 (82, '{"handle":"0x16f30","symbol":"cos"}'), (83, '{"handle":"0x16f30","symbol":"newer"}'),
 (84, '{"handle":"0x16f30","symbol":"newer"}'), (85, '{"file":"libslow.so","mode":"RTLD_NOW"}');
