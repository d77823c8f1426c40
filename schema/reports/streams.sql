-- Streams and what was put into them
-- sort: start_ns
-- limit: 50
-- leave: end_ns pid
-- column: stream    text   handle; 0x0: the default stream
-- column: pid       id     process
-- column: device    id     current device when it was created
-- column: launches  count  kernels
-- column: copies    count  copies and fills
-- column: syncs     count  waits for it
-- column: start_ns  time   when created, or first seen
-- column: end_ns    time   when destroyed
SELECT handle_hex AS stream, pid, device, launches, copies, syncs, start AS start_ns, "end" AS end_ns
FROM streams
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND device = :device */
