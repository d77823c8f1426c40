-- Calls that failed, with their arguments
-- about: What is marked normal is an answer rather than a failure (fade-query sql 'SELECT * FROM result_rules'). The first failures of each function, code and caller have a row each; later ones are added up in one more row (repeats).
-- sort: start_ns
-- limit: 50
-- leave: frames stack normal last_ns call_id code tid pid caller python
-- column: start_ns  time   entry of the call
-- column: pid       id     process
-- column: tid       id     thread
-- column: name      text   function
-- column: code      id     result
-- column: error     text   name of the result
-- column: repeats   count  failures that this row stands for
-- column: last_ns   time   the last of them
-- column: call_id   id     id of the (first) call
-- column: caller    text   where it was called from
-- column: stack     id     the stack of the (first) call: fade-query stacks --stack ID
-- column: python    text   innermost line of Python in it
-- column: frames    text   its three innermost frames, innermost first
-- column: normal    yesno  an answer rather than a failure
-- column: args      text   arguments
SELECT start AS start_ns, pid, tid, name, code, error, repeats, last AS last_ns, call_id, caller, f.stack, t.python, t.frames, normal, args
FROM failures f LEFT JOIN stack_tops t ON t.stack = f.stack
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */ /*? AND tid = :tid */
  /*? AND (name REGEXP :name OR error REGEXP :name) */
