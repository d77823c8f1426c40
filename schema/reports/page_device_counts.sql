-- How many devices programs were told about, and of how many they asked a fact.
SELECT count(*) AS devices, count(coalesce(name, arch, pci, total_memory)) AS described
FROM devices
WHERE ordinal >= 0 AND session = coalesce(:session, session)
