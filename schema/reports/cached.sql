-- Copies of device properties that programs keep in memory, and what --set would change in them
-- sort: pid
-- limit: 100
-- leave: arch pci mapping known_by address at_ns
-- none: no copy of device properties was found, or none was looked for
-- question: devices
-- topic: processes
-- record: fade-attach --find-cached PID
-- column: pid      id    process
-- column: device   id    as the process numbers it; empty: not known
-- column: name     text  of the device, in the copy
-- column: layout   text  structure: hipDeviceProp_tR0600, hipDeviceProp_tR0000 or CUdevprop
-- column: library  text  that keeps the copy; empty: not known
-- column: field    text  that is not what a rule says; empty: none
-- column: was      text  value that the program keeps
-- column: wanted   text  value that the rule says
-- column: spec     text  the rule
-- column: state    text  kept: as the program made it; changed, put back: by fade
-- column: problem  text  why it was not changed, or not put back
-- column: address  text  where the copy is
-- column: mapping  text  memory that it lies in: a file, [heap] or [stack]; empty: anonymous
-- column: arch     text  architecture, in the copy
-- column: pci      text  PCI address, in the copy
-- column: known_by text  call: equal to an answer of the runtime; fields: by its form; parent: copied by a fork
-- column: at_ns    time  when it was found
SELECT c.pid, c.device, c.name, c.layout, c.library, f.field, f.was, f.became AS wanted, f.spec,
       iif(c.put_back IS NOT NULL, 'put back', iif(c.changed IS NOT NULL, 'changed', 'kept')) AS state, c.problem,
       c.address, c.mapping, c.arch, c.pci, c.known_by, c.at AS at_ns
FROM cached_copies c LEFT JOIN cached_fields f ON f.copy_id = c.id
WHERE true /*? AND c.session = :session */ /*? AND c.pid = :pid */ /*? AND c.device = :device */
    /*? AND (c.session, c.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND f.field REGEXP :name */
