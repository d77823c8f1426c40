-- Copies of device properties in programs' memory, which --set at fade-attach does not reach.

CREATE VIEW cached_searches AS
SELECT s.id, p.session, p.pid, s.ts AS at, s.ns, s.bytes, s."left" AS bytes_left, s.copies, s.held_ns,
       s."limit" AS ended_by
FROM cached_search_ s
JOIN process_ p ON p.id = s.process;

CREATE VIEW cached_copies AS
SELECT c.id, p.session, p.pid, c.ts AS at, printf('0x%x', c.addr) AS address, c.layout,
       coalesce(c.device, o.device) AS device,
       c.name, c.arch, c.pci, coalesce(c.library, o.library) AS library, coalesce(c.mapping, o.mapping) AS mapping,
       coalesce(c.known_by, 'parent') AS known_by,
       (SELECT count(*) FROM cached_field_ f WHERE f.copy = coalesce(c.parent, c.id)) AS differing,
       c.changed, c.put_back,
       c.problem, c.parent AS parent_id
FROM cached_copy_ c
JOIN process_ p ON p.id = c.process
LEFT JOIN cached_copy_ o ON o.id = c.parent;

CREATE VIEW cached_fields AS
SELECT f.id, p.session, p.pid, c.id AS copy_id, f.rule AS rule_id, r.spec, f.offset, f.field, f.was, f.became,
       f.old AS old_bytes, f.new AS new_bytes
FROM cached_copy_ c
JOIN process_ p ON p.id = c.process
JOIN cached_field_ f ON f.copy = coalesce(c.parent, c.id)
LEFT JOIN override_ r ON r.id = f.rule;
