-- Kernels that the report shows as a number: the program got their handles before fade watched it.
SELECT k.session, NULL, NULL, 'kernels-unnamed', 'info', printf('%d kernel%s', k.unnamed, iif(k.unnamed = 1, '', 's')),
       printf('%d of %d kernels have no name, with %d of %d launches: their handles are shown instead. ', k.unnamed,
              k.n, k.unnamed_launches, k.launches)
       || iif(EXISTS (SELECT 1
                      FROM narrowings w
                      WHERE w.session = k.session AND w.word IN ('attach', 'delay', 'window')),
              'The program loaded them before fade recorded it, and the names are told only then.',
              iif(k.unasked, 'The calls that tell their names were left out by -e, --include or --exclude.',
                  'The calls that tell their names were not recorded or were not understood.')),
       iif(k.unasked, 'Record the group module, too: -e kernel,module. Launches, ',
           'Start the program with fade-run and without --delay, or run fade-attach before it loads its kernels. '
           || 'Launches, ') || 'grids and times are complete without the names.'
FROM (
  SELECT session,
         EXISTS (SELECT 1
                 FROM selection_ x
                 WHERE x.session = kernel_stats.session AND x.kind IN ('module_load', 'get_function')
                   AND x.why IN ('events', 'include', 'exclude')) AS unasked,
         count(DISTINCT kernel_id) AS n, sum(launches) AS launches,
         count(DISTINCT iif(name GLOB '0x[0-9a-f]*', kernel_id, NULL)) AS unnamed,
         sum(iif(name GLOB '0x[0-9a-f]*', launches, 0)) AS unnamed_launches
  FROM kernel_stats
  GROUP BY session) k
WHERE k.unnamed > 0
