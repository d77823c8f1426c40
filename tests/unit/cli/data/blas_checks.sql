-- What --check blas computed again.
INSERT INTO check_ (id, call, thread, fn, caller, stack, ts, held_ns, type,
                    ops, m, n, k, batch, checked, bytes, problem,
  elements, differing, at_row, at_column, at_matrix, got, wanted, worst, allowed, shown, folder, blas) VALUES
 (1, 2, 1, 3, 1, NULL, 210000000, 400000, 'f32', 'NT', 64, 32, 16, 1, 1,
  14336, NULL, 2048, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'libopenblas.so.0'),
 (2, 3, 1, 3, 1, NULL, 220000000, 500000, 'f32', 'NT', 64, 32, 16, 1, 1, 14336, NULL, 2048, 2, 5, 7, 0, 1.5,
  2.5, 1.0, 0.00012, '[5,7] 1.5 instead of 2.5; [6,7] 3 instead of 3.25', '/tmp/run.db.check-3', 'libopenblas.so.0'),
 (3, 4, 1, 3, 1, NULL, 230000000, 300000, 'f32', 'NT', 64, 32, 16, 1, 1, 14336,
  'there was not enough memory to compute it', 0, 0, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, 'libopenblas.so.0');
INSERT INTO check_left_ VALUES (1, 3, 'the stream was being captured', 40),
    (1, 3, 'rate= allows no more bytes a second', 2);
