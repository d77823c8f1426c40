-- The runtime's own answers about devices for which fade gave others.
SELECT DISTINCT ordinal, name IS NOT told_name AS name_changed, told_name, arch IS NOT told_arch AS arch_changed,
                told_arch, multiprocessors IS NOT told_multiprocessors AS multiprocessors_changed, told_multiprocessors,
                total_memory IS NOT told_memory AS memory_changed, told_memory
FROM devices
WHERE ordinal >= 0 AND session = coalesce(:session, session)
  AND (name, arch, multiprocessors, total_memory) IS NOT (told_name, told_arch, told_multiprocessors, told_memory)
ORDER BY ordinal
LIMIT 16
