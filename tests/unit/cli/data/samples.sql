-- Looks at a thread that is in no call (--sample): three times at one line, once at another.
INSERT INTO frame_ (id, process, kind, address, "offset", name, file, line) VALUES
  (9001, 1, 1, 0, 0, 'load_batch', '/home/me/job/train.py', 57),
  (9002, 1, 1, 0, 0, '<module>', '/home/me/job/train.py', 60);
INSERT INTO sample_ VALUES (1, 1010000000, 1, 9001), (1, 1020000000, 1, 9001),
    (1, 1030000000, 1, 9001), (1, 1040000000, 1, 9002);
