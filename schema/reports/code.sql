-- Registers, LDS and mode of each kernel
-- about: From the code objects the program loaded or its libraries hold. mode WGP: a work-group may use both compute
--   units (CU) of a
-- about: work-group processor, CU: only one. On RDNA a multiprocessor as HIP counts it is a work-group processor: two
--   CUs. Architectures of no device here are left out.
-- sort: -launches
-- limit: 40
-- leave: library kernarg_bytes dynamic_stack agprs sgpr_spills vgpr_spills problem sgprs scratch_bytes max_threads
--   wave_size
-- none: no code object for a device of this machine was found
-- question: work
-- topic: modules
-- events: module
-- column: name           text   of the kernel, demangled
-- column: launches       count  how often it ran
-- column: arch           text   it was compiled for
-- column: mode           text   WGP or CU; empty: not said (before code object version 5), or before RDNA
-- column: vgprs          count  vector registers of a work-item
-- column: agprs          count  accumulator registers of a work-item
-- column: sgprs          count  scalar registers of a wave
-- column: vgpr_spills    count  vector registers that did not fit
-- column: sgpr_spills    count  scalar registers that did not fit
-- column: lds_bytes      bytes  LDS of a work-group, without what a launch adds
-- column: scratch_bytes  bytes  private memory of a work-item
-- column: wave_size      count  work-items of a wave
-- column: max_threads    count  most work-items of a work-group
-- column: kernarg_bytes  bytes  of all arguments
-- column: dynamic_stack  count  1: scratch is the least, not all that it may need
-- column: library        text   file it is in; empty: loaded from memory or a file of code
-- column: problem        text   why nothing is known
SELECT c.name, coalesce((SELECT sum(r.launches) FROM kernel_runs r WHERE r.kernel_id = c.kernel_id), 0) AS launches,
       c.arch, c.mode, c.vgprs, c.agprs, c.sgprs, c.vgpr_spills, c.sgpr_spills,
       c.lds AS lds_bytes, c.scratch AS scratch_bytes, c.wave_size, c.max_threads,
       c.kernarg AS kernarg_bytes, c.dynamic_stack, c.library, c.problem
FROM kernel_codes c
WHERE coalesce(c.used, 1) /*? AND c.session = :session */ /*? AND c.name REGEXP :name */
