-- How much work of the GPU has a time
-- about: A share of the GPU's time is true only if no work is without a time.
-- sort: pid
-- none: no work of a GPU was seen
-- question: complete
-- topic: kernels
-- record: --gpu-times
-- column: pid                 id     process
-- column: launches            count  kernels that calls launched
-- column: seen                count  kernels, copies and fills that were seen on their way to the GPU
-- column: timed               count  of these, with a time
-- column: without_time        count  of these, without a time: HIP did not ask when they ran
-- column: lost_packets        count  packets that were overwritten before fade read them
-- column: times_without_call  count  times that belong to no work that was seen
-- column: not_answered        count  answers of the runtime that were no time
-- column: work_without_call   count  of seen, put to run by no call that was recorded
SELECT pid, launches, seen, timed, untimed AS without_time, unread AS lost_packets, untied AS times_without_call,
       untold AS not_answered, uncalled AS work_without_call
FROM gpu_coverage
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
