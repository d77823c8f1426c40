-- Crashes, hangs and snapshots: what each thread was doing
-- about: Crashes, kills, ends with calls running, hangs (--hang-timeout) and snapshots (fade-attach --snapshot). On a
--   terminal a page: the thread, its call with arguments, what the other threads did, the last calls, the memory held.
--   The views postmortem_threads, postmortem_calls and postmortem_memory have the rows.
-- sort: start_ns
-- limit: 50
-- leave: evidence advice id code address cause sender_pid threads command host_bytes device_bytes exit_code quiet_ns
--   tid
-- none: no process crashed or hung, and no snapshot was taken
-- question: happened
-- topic: processes
-- column: id             id        number, postmortem_id in the other views
-- column: pid            id        process
-- column: rank           count     of the process in a distributed job
-- column: command        command  command line
-- column: start_ns       time      when
-- column: kind           text      signal, exit (by itself, with calls running), hang or snapshot
-- column: what           text      in words
-- column: signal         text      its name
-- column: code           text      what the kernel said about it
-- column: address        text      that could not be used
-- column: sender_pid     id        process that sent the signal
-- column: exit_code      id        exit status
-- column: quiet_ns       duration  for how long no call had begun or ended
-- column: cause          text      stack (overflow), self, oom, oom? (perhaps), where more is known
-- column: evidence       text      what that is known from
-- column: tid            id        thread that it began with
-- column: call           text      innermost call that was running in it
-- column: calls_running  count     in all threads
-- column: threads        count     that were looked at
-- column: device_bytes   bytes     memory of devices held by the process
-- column: host_bytes     bytes     pinned memory held by it
-- column: advice         text      what to do
SELECT id, pid, (SELECT r.rank FROM process_ranks r WHERE r.process_id = p.process_id) AS rank, command,
       start AS start_ns, kind, what, signal_name AS signal, code_name AS code,
       address_hex AS address, sender_pid, exit_code, quiet_ns, cause, evidence, tid, call, calls_running, threads,
       device_bytes, host_bytes, advice
FROM postmortems p
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND start >= :from */ /*? AND start < :to */ /*? AND (what REGEXP :name OR command REGEXP :name) */
