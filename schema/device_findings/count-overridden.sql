-- A raised count meets the runtime's own limit of cooperative launches.
SELECT session, pid, device, 'count-overridden', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('fade told the program %d multiprocessors instead of %d. The runtime still counts %d: a cooperative '
              || 'launch of more than (blocks per multiprocessor) x %d blocks is refused with '
              || 'hipErrorCooperativeLaunchTooLarge (720), and a program that sizes it by the new count asks for %.3g '
              || 'times as many.',
              received_multiprocessors, told_multiprocessors, told_multiprocessors, told_multiprocessors,
              1.0 * received_multiprocessors / told_multiprocessors),
       'If such launches fail, restrict the rule to the library that should see the number (--set ''RULE@LIBRARY*''), '
       || 'and compare run times with and without it before believing in a gain.'
FROM known_devices
WHERE received_multiprocessors > told_multiprocessors
