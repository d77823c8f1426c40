-- The ranks of a distributed job among the processes that are shown.
SELECT min(rank) AS lowest, max(rank) AS highest, max(world_size) AS world
FROM process_ranks
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:rank IS NULL OR rank = :rank)
