-- The stacks with the most of --weight.
-- over: stacks
SELECT stack, pid, calls, errors, total_ns, self_ns, bytes, functions
FROM report
ORDER BY CASE :by WHEN 'calls' THEN calls WHEN 'bytes' THEN bytes ELSE self_ns END DESC, stack
LIMIT :most
