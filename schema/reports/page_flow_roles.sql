-- The libraries of each interface, by the newest path.
SELECT CASE role WHEN 'zluda' THEN 'cuda' ELSE role END AS api, role, max(path) AS path, count(DISTINCT path) AS n
FROM modules
WHERE role IN ('hip', 'hiprtc', 'zluda', 'cuda', 'cudart', 'nvml') AND session = coalesce(:session, session)
GROUP BY role
