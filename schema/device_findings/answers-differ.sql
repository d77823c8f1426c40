-- The runtime itself gave two answers to one question.
SELECT session, pid, device, 'answers-differ', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       'Asked in different ways, HIP gave different answers: '
       || substr(iif(told_least_multiprocessors <> told_multiprocessors,
                     printf(', %d and %d multiprocessors', told_least_multiprocessors, told_multiprocessors), '')
                 || iif(told_least_warp_size <> told_warp_size,
                        printf(', warp size %d and %d', told_least_warp_size, told_warp_size), '')
                 || iif(told_least_memory <> told_memory,
                        printf(', %d and %d bytes of memory', told_least_memory, told_memory), ''),
                 3) || '.',
       'See who asked and how with fade-query props. Two copies of the runtime, or a library between the program and '
       || 'HIP, can be the reason.'
FROM known_devices
WHERE told_least_multiprocessors <> told_multiprocessors OR told_least_warp_size <> told_warp_size
  OR told_least_memory <> told_memory
