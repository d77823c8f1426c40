-- The verdict of the newest session.
SELECT verdict, reason,
       -- The reason may be why a program failed by itself, too.
       reason GLOB '*PyTorch*' OR reason GLOB '*CUDA*' OR reason GLOB 'HIP saw no GPU*'
       OR reason GLOB 'the process may not open*' AS explained
FROM session_verdicts
WHERE session = coalesce(:session, session)
ORDER BY session DESC
LIMIT 1
