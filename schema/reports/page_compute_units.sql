-- Devices as received, with the compute units of the hardware. A work-group processor (WGP) of RDNA has two.
-- over: devices
SELECT DISTINCT ordinal, name, multiprocessors, compute_units
FROM report
WHERE multiprocessors IS NOT NULL
ORDER BY ordinal
LIMIT 64
