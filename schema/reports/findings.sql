-- Diagnoses: what is wrong, why, what to do
-- about: Computed from the recording. info explains, warning is worth a look, error keeps the program from using the
--   GPU. man fade-findings
-- about: has a section for each.
-- sort: place
-- limit: 50
-- leave: place device pids advice text
-- none: there is nothing to report
-- question: happened
-- topic: calls
-- column: place     id    errors first
-- column: severity  text  error, warning or info
-- column: finding   text  its name
-- column: subject   text  what it is about
-- column: text      text  what was found, and why
-- column: advice    text  what to do
-- column: device    id    ordinal of the device, where it is about one
-- column: pids      text  processes that it holds for
SELECT row_number() OVER (ORDER BY CASE severity WHEN 'error' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END,
                          finding, device, subject, text) AS place, severity, finding, subject, text, advice, device,
       group_concat(DISTINCT pid) AS pids
FROM findings
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND device = :device */
  /*? AND finding REGEXP :name */
GROUP BY session, severity, finding, subject, text, advice, device
