-- GPUs are there, but what the driver would say of them is not. In a container that was given others, that is in order.
SELECT k.session, NULL, NULL, 'kfd-node-unreadable',
       iif(EXISTS (SELECT 1 FROM kfd_node_ o WHERE o.session = k.session AND o.gpu AND o.problem IS NULL), 'info',
           'warning'),
       printf('node%s %s of the driver', iif(count(*) > 1, 's', ''), group_concat(k.node, ', ')),
       printf('The driver lists %s, but %s.', iif(count(*) > 1, printf('%d GPUs here', count(*)), 'a GPU here'),
              replace(k.problem, 'its ', iif(count(*) > 1, 'their ', 'its '))),
       'Containers often see GPUs that they were not given. If one of these should be used: pass /dev/kfd and its '
       || '/dev/dri/renderD* to the container, and run as a member of the groups that own them (render, video).'
FROM kfd_node_ k
WHERE k.gpu AND k.problem IS NOT NULL
GROUP BY k.session, k.problem
