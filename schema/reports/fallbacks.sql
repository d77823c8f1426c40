-- Matrix products that hipBLASLt or cuBLASLt had no algorithm for, and what the thread computed instead
-- about: From the arguments of hipBLASLt, cuBLASLt and the libraries beside them (-e all,blas). The answer none of a question for an algorithm, or a product that failed; then the next product of the same thread. It says only what was seen: why the library had none is not in its answer.
-- sort: -asked
-- limit: 40
-- leave: pid batch first_ns
-- none: no product for which hipBLASLt or cuBLASLt had no algorithm is in the recording
-- question: work
-- topic: calls
-- rows: of single calls
-- record: -e all,blas
-- column: name       text   function that gave no algorithm, or failed
-- column: pid        id     process
-- column: m          count  rows of the result
-- column: n          count  columns of the result
-- column: k          count  columns of the left matrix, and rows of the right one
-- column: batch      count  products of one call
-- column: type       text   elements of the left matrix
-- column: answer     text   no algorithm, or the error
-- column: asked      count  calls with this answer
-- column: used       text   function of another library that computed the same sizes next; empty: none did, or they had other sizes
-- column: followed   count  how often it did
-- column: first_ns   time   the first of these calls
SELECT b.name, b.pid, b.m, b.n, b.k, b.batch, coalesce(e.type, b.type) AS type, b.answer, count(*) AS asked, b.used,
  count(b.used) AS followed, min(c.start) AS first_ns
FROM matrix_fallbacks b CROSS JOIN calls c ON c.id = b.call_id LEFT JOIN element_types e ON e.word = b.type
WHERE true /*? AND b.session = :session */ /*? AND b.pid = :pid */ /*? AND b.name REGEXP :name */
GROUP BY b.session, b.name, b.pid, b.m, b.n, b.k, b.batch, b.type, b.answer, b.used
