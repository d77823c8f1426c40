-- CUDA calls that failed, the first one first, and the HIP call whose result it was
-- about: ZLUDA hands HIP's error numbers on as CUDA's. Where no HIP call failed inside, the answer is ZLUDA's own.
-- hidden: a variant of cuda
-- sort: start_ns
-- limit: 40
-- leave: pid args caller hip_error repeats
-- none: no CUDA call failed
-- topic: cuda
-- rows: of single calls
-- column: start_ns   time   when it returned
-- column: pid        id     process
-- column: name       text   function of CUDA
-- column: error      text   what the program was told
-- column: repeats    count  failures that this row stands for
-- column: hip_call   text   HIP call inside that failed; empty: none did, or calls were not stored
-- column: hip_error  text   its result
-- column: caller     text   where the CUDA function was called from
-- column: args       text   arguments of the CUDA function
WITH inside AS MATERIALIZED (
  SELECT calls.parent_id, errors.name, errors.error FROM errors JOIN calls ON calls.id = errors.call_id
  WHERE errors.category = 'hip' AND calls.parent_id IS NOT NULL
)
SELECT start AS start_ns, pid, errors.name, coalesce(errors.error, errors.code) AS error,
       repeats, inside.name AS hip_call, inside.error AS hip_error, caller, args
FROM errors LEFT JOIN inside ON inside.parent_id = errors.call_id
WHERE category = 'cuda' AND errors.id NOT IN (SELECT id FROM failures WHERE normal)
  /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND (errors.name REGEXP :name OR errors.error REGEXP :name) */
