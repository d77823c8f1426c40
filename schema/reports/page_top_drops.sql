-- What was not recorded, by reason.
SELECT reason, sum(n) AS n FROM drops WHERE session = :session GROUP BY reason ORDER BY 2 DESC
