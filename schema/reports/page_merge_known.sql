-- How many sessions the attached file has, and how many of these the new file has already.
SELECT count(*) AS sessions,
       count(CASE WHEN EXISTS (SELECT 1 FROM main.session_ k
                               WHERE k.start_ns = s.start_ns AND k.boot_ns = s.boot_ns AND k.boot_id IS s.boot_id
                                 AND k.host IS s.host) THEN 1 END) AS known
FROM source.session_ s
