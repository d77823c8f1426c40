-- When a call was left without a return.
SELECT ts_end
FROM unwound_
WHERE call = :call
