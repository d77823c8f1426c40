-- Files of other profilers that were imported, and how well they fit
-- about: Times of the file are shifted onto the recording's clock. Calls that both tools saw say by how much, and tie
--   the GPU's work to fade's calls.
-- sort: id
-- none: nothing was imported (fade-query import FILE)
-- question: complete
-- topic: file
-- leave: elsewhere spread_ns shift_ns
-- column: id           id        number of the import
-- column: file         text      name of the file
-- column: format       text      rocpd or kineto
-- column: clock        text      boot, real, or found by the calls that both saw
-- column: shift_ns     count     what was added to its times
-- column: spread_ns    duration  half of the calls that both saw begin no more than this apart
-- column: calls        count     calls in the file
-- column: matched      count     of these, those that fade saw as well
-- column: works        count     kernels, copies and fills in it that were taken
-- column: tied         count     of these, those whose call fade saw
-- column: tied_percent percent   share of these
-- column: operators    count     operators in it
-- column: elsewhere    count     rows of processes, threads or times that are not in the recording
SELECT id, file, format, clock, shift_ns, spread_ns, calls, matched, works, tied,
       round(100.0 * tied / nullif(works, 0), 2) AS tied_percent, operators, elsewhere
FROM imports
WHERE true /*? AND session = :session */
