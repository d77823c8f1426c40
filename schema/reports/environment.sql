-- Findings about the libraries that were loaded: copies, mixed releases, preloads
-- about: What each means and what to do about it: --format line. Nothing here need be wrong.
-- leave: advice pid subject
-- column: severity  text  warning or info
-- column: kind      text  several-copies, mixed-rocm, mixed-openmp, interposed, other-copy-not-taken, preloaded or audited
-- column: subject   text  which library or variable
-- column: text      text  what was seen
-- column: advice    text  what to do
-- column: pid       id    process
SELECT severity, kind, subject, text, advice, pid
FROM environment_findings
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND (subject REGEXP :name OR text REGEXP :name) */
ORDER BY severity DESC, pid, kind, subject
