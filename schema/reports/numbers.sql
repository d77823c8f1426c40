-- NaN, infinities and values outside of a range in copies between host and GPU, by line and buffer
-- about: A copy to the GPU is looked at before it is made. A copy to the host is looked at when it has been waited for.
--   So a NaN was in the host's memory at that moment. A type with "guessed" follows from the bytes: fade-run
--   --watch-numbers nan,inf,dtype=f32 tells it.
-- sort: first_ns
-- limit: 40
-- leave: caller least greatest scanned_bytes first_element call_id pid
-- none: no copy with a NaN, an infinity or a value outside of the range is in the recording
-- question: work
-- topic: copies
-- record: --watch-numbers nan,inf
-- column: direction     text      h2d (to the GPU) or d2h (to the host)
-- column: user_line     text      your own line of the first such copy; empty: none is known
-- column: name          text      function that copied
-- column: nan           count     elements that are not a number
-- column: inf           count     elements that are infinite
-- column: outside       count     finite elements outside of the range
-- column: found_copies  count     copies with any of these
-- column: copies        count     copies by this caller and buffer that were looked at, of all its lines
-- column: first_ns      time      the first such copy was looked at
-- column: first_value   text      its first such element, and the bits
-- column: first_element count     place of that element in the buffer, from 0
-- column: type          text      type of the elements
-- column: guessed       yesno     the type is a guess
-- column: origin        text      of the first NaN: host (in the host's memory before the upload), uploaded (seen going
--   up to the same address before), gpu (not seen there), gpu? (no such upload was looked at)
-- column: buffer        text      address in the GPU's memory
-- column: scanned_bytes bytes     bytes of these copies that were looked at
-- column: least         number    least finite element; only with range
-- column: greatest      number    greatest finite element; only with range
-- column: caller        text      who called
-- column: call_id       id        the first such copy
-- column: pid           id        process
-- column: rank          count     of the process in a distributed job
WITH places AS (
  SELECT s.*, sum(copies) OVER place AS all_copies, sum(scanned_bytes) OVER place AS all_scanned FROM number_stats s
  WINDOW place AS (PARTITION BY process_id, name, caller_id, direction, device, type, guessed)
)
SELECT s.direction, (SELECT u.user_line FROM user_lines u WHERE u.stack = coalesce(s.stack, n.stack)) AS user_line,
  s.name, s.nan, s.inf, s.outside, s.found_copies, s.all_copies AS copies, n.at AS first_ns,
  n.first_value, n.first_element, s.type,
  s.guessed, CASE WHEN s.nan = 0 THEN NULL WHEN s.direction = 'h2d' THEN 'host' WHEN s.uploaded_nan > 0 THEN 'uploaded'
  WHEN s.uploaded_nan = 0 THEN 'gpu' ELSE 'gpu?' END AS origin,
  s.device_hex AS buffer, s.all_scanned AS scanned_bytes, s.least,
  s.greatest, coalesce(c.symbol, c.library) AS caller, n.call_id, s.pid,
  (SELECT max(r.rank) FROM process_ranks r WHERE r.session = s.session AND r.pid = s.pid) AS rank
FROM places s
LEFT JOIN numbers n ON n.id = s.first_found_id
LEFT JOIN callers c ON c.id = s.caller_id
WHERE s.found_copies > 0 /*? AND s.session = :session */ /*? AND s.pid = :pid */
    /*? AND (s.session, s.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND s.name REGEXP :name */
