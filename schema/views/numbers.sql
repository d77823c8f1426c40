-- What was seen in the host's side of copies (--watch-numbers).

CREATE VIEW numbers AS
SELECT n.id, p.session, p.pid, t.tid, n.ts AS at, f.name, iif(n.down, 'd2h', 'h2d') AS direction, n.host,
       printf('0x%x', n.host) AS host_hex, n.device, printf('0x%x', n.device) AS device_hex, n.bytes,
       n.scanned AS scanned_bytes, n.type, n.guessed, n.elements, n.nan, n.inf, n.outside, n.first AS first_element,
       n.first_value, n.least, n.greatest, n.checksum,
       iif(n.checksum IS NULL, NULL, printf('%016x', n.checksum)) AS checksum_hex, n.call AS call_id,
       n.wait AS wait_call_id, n.caller AS caller_id, n.stack, n.step AS step_id, s.idx AS step, p.id AS process_id
FROM number_ n
JOIN process_ p ON p.id = n.process
JOIN thread_ t ON t.id = n.thread
JOIN function_ f ON f.id = n.fn
LEFT JOIN step_ s ON s.id = n.step;

-- uploaded_nan: NaN of uploads to the same address, if the first of these was seen before; NULL: no upload to it was
-- looked at.
CREATE VIEW number_stats AS
SELECT p.session, p.id AS process_id, p.pid, f.name, iif(x.down, 'd2h', 'h2d') AS direction,
       nullif(x.device, 0) AS device, iif(x.device = 0, NULL, printf('0x%x', x.device)) AS device_hex,
       nullif(x.type, '') AS type, x.guessed, nullif(x.caller, 0) AS caller_id, nullif(x.stack, 0) AS stack, x.copies,
       x.bytes, x.scanned AS scanned_bytes, x.elements, x.nan, x.inf, x.outside, x.nan_copies, x.found_copies, x.least,
       x.greatest, x.first AS first_at, x.first_found AS first_found_id, x.first_nan AS first_nan_id,
       iif(x.down AND x.device <> 0,
           (SELECT sum(iif(u.first_nan < x.first_nan, u.nan, 0))
            FROM number_sum_ u
            WHERE u.process = x.process AND u.device = x.device AND NOT u.down), NULL) AS uploaded_nan
FROM number_sum_ x
JOIN process_ p ON p.id = x.process
JOIN function_ f ON f.id = x.fn;

CREATE VIEW number_steps AS
SELECT p.session, p.id AS process_id, p.pid, t.tid, nullif(x.step, 0) AS step_id, s.idx AS step,
       iif(x.down, 'd2h', 'h2d') AS direction, x.copies, x.bytes, x.scanned AS scanned_bytes
FROM number_step_ x
JOIN process_ p ON p.id = x.process
JOIN thread_ t ON t.id = x.thread
LEFT JOIN step_ s ON s.id = x.step;

CREATE VIEW numbers_unscanned AS
SELECT p.session, p.id AS process_id, p.pid, iif(x.down, 'd2h', 'h2d') AS direction, x.reason, x.copies, x.bytes
FROM number_left_ x
JOIN process_ p ON p.id = x.process;
