-- Copies of device properties in the memory of programs.
INSERT INTO override_ VALUES (31, 1, 'device.0.multiProcessorCount=72', 'device.0.multiProcessorCount', '72', '--set');
INSERT INTO cached_search_ VALUES (1, 1, 1000000, 2000000, 104857600, 4096, 3, 150000, NULL);
INSERT INTO cached_copy_ VALUES
 (1, NULL, 1, 1000000, 93824992235520, 'hipDeviceProp_tR0600', 0, 'AMD Radeon RX 6800 XT',
  'gfx1030', '0000:03:00.0', '/opt/torch/lib/libtorch_hip.so', '[heap]', 'fields', 3000000, 9000000, NULL),
 (2, NULL, 1, 1000000, 93824992236992, 'hipDeviceProp_tR0600', 1, 'AMD Radeon RX 7900 XTX',
  'gfx1100', '0000:04:00.0', '/opt/torch/lib/libtorch_hip.so', '[heap]', 'fields', NULL, NULL, NULL),
 (3, NULL, 1, 1000000, 93824992300000, 'hipDeviceProp_tR0600', 0, 'AMD Radeon RX 6800 XT', 'gfx1030', '0000:03:00.0',
  NULL, '[heap]', 'call', NULL, NULL, 'it may be of librocblas.so.4, which device.0.multiProcessorCount=72 leaves out');
INSERT INTO cached_field_ VALUES
 (1, 1, 31, 388, 'multiProcessorCount', '36', '72', x'24000000', x'48000000'),
 (2, 3, 31, 388, 'multiProcessorCount', '36', '72', x'24000000', x'48000000');
