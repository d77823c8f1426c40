-- A file of rocprofv3, and a trace of PyTorch's profiler that has operators alone.
INSERT INTO import_ VALUES (1, 1, 'out.db', 'rocpd', 'a', 'boot', -5000000000, 120, 60, 58, 40, 39, 0, 3),
    (2, 1, 'w.pt.trace.json', 'kineto', 'b', 'real', -1700000000000000000, NULL, 10, 0, 0, 0, 6, 0);
INSERT INTO operator_name_ VALUES (1, 'aten::mm'), (2, 'aten::addmm');
INSERT INTO operator_stat_ VALUES (1, 1, 4, 8000, 8000, 3000, 4, 40000), (1, 2, 2, 9000, 1000, 5000, 1, 7000);
