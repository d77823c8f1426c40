-- Operators of PyTorch: recorded ones of process 1 with launches inside, by line and module; imported ones of process
-- 2.
INSERT INTO import_ VALUES (2, 1, 'w.pt.trace.json', 'kineto', 'b', 'real', -1700000000000000000, NULL, 10, 0, 0, 0,
  3, 0);
INSERT INTO operator_name_ VALUES (1, 'aten::mm'), (2, 'aten::addmm');
INSERT INTO operator_ VALUES
 (1, 2, 2, 3, 2, 3100000000, 9000, NULL, 2000, 1, 7000), (2, 2, 2, 3, 1, 3100001000, 7000, 1, 4000, 2, 20000),
 (3, 2, 2, 3, 1, 3100002000, 3000, 2, 3000, 1, 5000);
INSERT INTO operator_stat_ VALUES (2, 1, 2, 10000, 7000, 7000, 3, 25000), (2, 2, 1, 9000, 2000, 9000, 1, 7000);
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (80, 1, 'aten::linear', 'torch', 'ops', 'other', '/venv/torch/lib/libtorch_cpu.so', '', 'void', NULL),
 (81, 1, 'aten::mm', 'torch', 'ops', 'other', '/venv/torch/lib/libtorch_cpu.so', '', 'void', NULL);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (80, 5000000000, 100000, 1, 80, 1, NULL, NULL, NULL), (81, 5000010000, 60000, 1, 81, 1, 1, NULL, NULL),
 (82, 5000020000, 12000, 1, 4, 3, 1, NULL, 1), (83, 5000080000, 10000, 1, 4, 3, 3, NULL, 1);
INSERT INTO call_stat_ (thread, fn, parent_fn, n, errors, total, self, min, max) VALUES
 (1, 80, 0, 1, 0, 100000, 30000, 100000, 100000), (1, 81, 80, 1, 0, 60000, 48000, 60000, 60000),
 (1, 4, 80, 1, 0, 10000, 10000, 10000, 10000), (1, 4, 81, 1, 0, 12000, 12000, 12000, 12000);
INSERT INTO gpu_work_ VALUES (80, 1, 0, NULL, NULL, 1, NULL, 82, 1, 5000030000, 50000, NULL),
  (81, 1, 0, NULL, NULL, 1, NULL, 83, 1, 5000090000, 8000, NULL);
INSERT INTO arg_ VALUES (80, '{"input":"f32[64,3]@cuda:0","weight":"f32[5,3]@cuda:0","bias":null}'),
  (81, '{"self":"f32[64,3]@cuda:0","mat2":"f32[3,5]@cuda:0"}');
INSERT INTO frame_ VALUES
 (80, 1, 1, NULL, 0, NULL, 'Net.forward', '/home/ada/train.py', 10),
   (82, 1, 1, NULL, 0, NULL, '<module>', '/home/ada/train.py', 30),
 (81, 1, 1, NULL, 0, NULL, 'build.<locals>.Head.forward', '/venv/lib/python3.11/site-packages/heads/head.py', 114);
INSERT INTO stack_ VALUES (80, NULL, 82), (81, 80, 80), (82, 81, 81);
INSERT INTO stack_stat_ VALUES (82, 80, 3, 0, 9000, 5000, 0, 80), (80, 81, 2, 0, 700, 700, 0, 81),
  (81, 81, 1, 0, 4000, 4000, 0, 81);
