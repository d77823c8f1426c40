-- HIP says one architecture, the driver another. What follows ':' are switches, not the architecture.
SELECT session, pid, device, 'arch-override', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('HIP says %s, the driver %s%s. Libraries choose and compile kernels for %s.', told_arch, driver_arch,
              iif(hsa_override_gfx_version IS NULL,
                  ', though HSA_OVERRIDE_GFX_VERSION was not set when the program began',
                  ': ' || hsa_override_gfx_version),
              told_arch),
       'This is how a GPU without kernels of its own borrows those of a near relative. Wrong results, faults and hangs '
       || 'are possible: compare results with a CPU run, and drop the variable once the libraries support this GPU.'
FROM (SELECT *, substr(arch, 1, instr(arch || ':', ':') - 1) AS told_arch FROM known_devices)
WHERE told_arch <> driver_arch
