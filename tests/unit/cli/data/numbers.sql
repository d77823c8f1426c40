-- What --watch-numbers saw, and what rules of --actions did.
INSERT INTO step_ VALUES (21, 1, 1, 1, 'train_step', 200000000, 100000000,
                          1, 2, 3, 40, 0, 20, 2, 8192, 4096, 30000000, 10000000),
 (22, 1, 1, 2, 'train_step', 300000000, 100000000, 1, 4, 5, 40, 0, 20, 2, 8192, 4096, 30000000, 10000000);
INSERT INTO number_ VALUES
 (1, 2, NULL, 1, 1, 3, 1, NULL, 21, 210000000, 0, 4096, 1048576, 4096, 4096,
  'f32', 1, 1024, 0, 0, 0, NULL, NULL, NULL, NULL, 81985529216486895),
 (2, 3, NULL, 1, 1, 3, 1, NULL, 21, 250000000, 1, 8192, 1048576, 4096, 4096,
  'f32', 1, 1024, 3, 1, 0, 17, 'nan (0x7fc00000)', NULL, NULL, 1311768467463790320),
 (3, 4, 5, 1, 1, 3, 1, NULL, 22, 350000000, 1, 8192, 1048576, 4096, 2048,
  'f32', 0, 512, 512, 0, 0, 0, 'nan (0xffc00000)', NULL, NULL, -81985529216486896),
 (4, 6, NULL, 1, 1, 3, 1, NULL, NULL, 450000000, 0, 4096, 2097152, 80, 80,
  NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 5);
INSERT INTO number_sum_ VALUES
 (1, 3, 1, 0, 0, 1048576, 'f32', 1, 10, 40960, 40960, 10240, 0, 0, 0, 0, 0, NULL, NULL, 110000000, NULL, NULL),
 (1, 3, 1, 0, 0, 2097152, '', 0, 1, 80, 80, 0, 0, 0, 0, 0, 0, NULL, NULL, 450000000, NULL, NULL),
 (1, 3, 1, 0, 1, 1048576, 'f32', 1, 10, 40960, 38912, 9728, 515, 1, 0, 2, 2, -4.5, 12.25, 150000000, 2, 2),
 (1, 3, 1, 0, 1, 3145728, 'f64', 0, 4, 4096, 4096, 512, 0, 0, 9, 0, 1, -1e9, 1e9, 160000000, NULL, NULL);
INSERT INTO number_step_ VALUES
 (1, 1, 0, 0, 5, 20480, 20480), (1, 1, 21, 0, 6, 20560, 20560), (1, 1, 21, 1, 7, 22528, 22528),
 (1, 1, 22, 1, 7, 22528, 20480);
INSERT INTO number_left_ VALUES (1, 1, 'no call was seen that waited for it', 7, 28672),
    (1, 0, 'more bytes a second than rate= allows', 2, 1073741824);
INSERT INTO action_ VALUES (1, 1, 'on hipMemcpy if size > 1K limit 2 do mark large', 'rules:1'),
    (1, 2, 'on hipFree if failed do stop', 'rules:2');
INSERT INTO action_done_ (session, rule, ts, action, detail, call, thread, caller, stack, step, failed) VALUES
 (1, 1, 210000000, 'mark', 'large', 2, 1, 1, NULL, 21, 0), (1, 1, 250000000, 'mark', 'large', 3, 1, 1, NULL, 21, 0),
 (1, 1, 250000000, 'limit', 'the rule has done its work 2 times', 3, 1, 1, NULL, 21, 0);
