-- A GPU is there, but what the driver would say of it is not.
SELECT k.session, NULL, NULL, 'kfd-node-unreadable', 'warning', printf('GPU of KFD node %d', k.node),
       printf('The driver lists this GPU, but %s.', k.problem),
       'Containers often see a GPU that they were not given. If this one should be used: pass /dev/kfd and its /dev/dri/renderD* to the container, and run as a member of the groups that own them (render, video).'
FROM kfd_node_ k WHERE k.gpu AND k.problem IS NOT NULL
