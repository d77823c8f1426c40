-- Programs and libraries that were loaded
-- sort: -sites
-- limit: 50
-- leave: base soname end_ns start_ns size_bytes pid build_id
-- none: no program or library was recorded
-- question: devices
-- topic: processes
-- column: path        text   as the process knows it
-- column: role        text   hip, hiprtc, zluda, cuda, cudart, nvml, user, program, loader or empty
-- column: version     text   of the library where it can be told
-- column: sites       count  functions watched in it
-- column: build_id    text   of the file
-- column: soname      text   the name it was linked by
-- column: pid         id     process
-- column: rank        count  of the process in a distributed job
-- column: base        text   address
-- column: size_bytes  bytes  in memory
-- column: start_ns    time   when loaded
-- column: end_ns      time   when unloaded
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT path, nullif(role, '') AS role, nullif(version, '') AS version, sites, nullif(build_id, '') AS build_id,
       nullif(soname, '') AS soname, pid,
       (SELECT r.rank FROM rank_of r WHERE r.session = modules.session AND r.pid = modules.pid) AS rank,
       base_hex AS base, size AS size_bytes, start AS start_ns, "end" AS end_ns
FROM modules
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND path REGEXP :name */
