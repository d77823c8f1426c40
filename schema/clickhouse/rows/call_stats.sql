-- The view call_stats, with its histograms as text: they are numbers in LEB128, of a bucket and of its calls in turn.
-- section: rows
WITH RECURSIVE stat AS MATERIALIZED (
  SELECT row_number() OVER () AS r, * FROM call_stats WHERE session = :session
), value AS (
  SELECT 0 AS byte UNION ALL SELECT byte + 1 FROM value WHERE byte < 255
), digits AS MATERIALIZED (
  SELECT printf('%02X', byte) AS word, byte FROM value
), walk AS (  -- number: NULL while its bytes go on
  SELECT r, hist, 1 AS at, 0 AS shift, 0 AS before, NULL AS number, 0 AS nth FROM stat WHERE length(hist) > 0
  UNION ALL
  SELECT w.r, w.hist, w.at + 1, iif(d.byte < 128, 0, w.shift + 7),
    iif(d.byte < 128, 0, w.before + ((d.byte & 127) << w.shift)),
    iif(d.byte < 128, w.before + (d.byte << w.shift), NULL), w.nth + (d.byte < 128)
  FROM walk w JOIN digits d ON d.word = hex(substr(w.hist, w.at, 1))
  WHERE w.at <= length(w.hist)
), pair AS (
  SELECT r, max(iif(nth % 2 = 1, number, NULL)) AS bucket, max(iif(nth % 2 = 0, number, NULL)) AS n
  FROM walk WHERE number IS NOT NULL GROUP BY r, (nth - 1) / 2
), words AS MATERIALIZED (
  SELECT r, group_concat(bucket || ':' || n) AS buckets FROM pair WHERE n > 0 GROUP BY r
)
SELECT s.*, coalesce(w.buckets, '') AS buckets FROM stat s LEFT JOIN words w ON w.r = s.r
