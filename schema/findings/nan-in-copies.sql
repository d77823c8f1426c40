-- NaN in copies between host and GPU (--watch-numbers nan): the first copy of a process that has one.
SELECT n.session, n.pid, NULL, 'nan-in-copies', 'warning',
       n.name || coalesce(' at ' || (SELECT u.user_line FROM user_lines u WHERE u.stack = n.stack), ''),
       printf('At %.3f s %s had %d NaN among %d elements of %s%s: %s. Later copies of the process brought the number '
              || 'of copies with a NaN to %d.',
              n.at / 1e9,
              iif(n.direction = 'h2d', 'a buffer in the host''s memory that was then copied to the GPU',
                  'a buffer that came back from the GPU'),
              n.nan, n.elements, n.type, iif(n.guessed, ' (a guess)', ''),
              iif(n.direction = 'h2d', 'they were there before the upload',
                  CASE WHEN n.uploaded > 0 THEN 'NaN had been seen going up to the same address'
                       WHEN n.uploaded = 0 THEN 'none was seen in what was copied up to that address'
                       ELSE 'no copy up to that address was looked at' END),
              x.copies),
       'fade-query numbers shows each line and buffer, fade-query numbers-steps the steps.'
FROM (
  SELECT x.*, row_number() OVER (PARTITION BY x.process_id ORDER BY x.id) AS place,
         (SELECT sum(iif(u.first_nan < x.id, u.nan, 0))
          FROM number_sum_ u
          WHERE u.process = x.process_id AND u.device = x.device AND NOT u.down) AS uploaded
  FROM numbers x
  WHERE x.nan > 0) n
JOIN (SELECT process_id, sum(nan_copies) AS copies FROM number_stats GROUP BY process_id) x
  ON x.process_id = n.process_id
WHERE n.place = 1
