-- The user's own line of a stack.
SELECT user_line AS line FROM user_lines WHERE stack = :stack
