-- Results other than 0, for each function, and whether they mean failure.
SELECT fn, code, failed
FROM result_name_
