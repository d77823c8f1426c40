-- NVML's answers.

CREATE VIEW nvml_answers AS
SELECT a.id, p.session, p.id AS process_id, p.pid, a.nvml_index, a.handle,
       iif(a.handle IS NULL, NULL, printf('0x%x', a.handle)) AS handle_hex, a.name, a.value, a.source,
       a.call AS call_id, a.ts AS start
FROM nvml_answer_ a
JOIN process_ p ON p.id = a.process;

-- One row for each device in NVML's answers, with its last answers. The PCI address alone decides which HIP device it
-- is.
CREATE VIEW nvml_devices AS
WITH last AS (
  SELECT session, process_id, pid, coalesce(nvml_index, -handle) AS place, nvml_index, name, value, max(id)
  FROM nvml_answers
  WHERE handle IS NOT NULL
  GROUP BY process_id, coalesce(nvml_index, -handle), name),
one AS (
  SELECT session, process_id, pid, place, max(nvml_index) AS nvml_index,
         max(CASE name WHEN 'name' THEN value END) AS name, max(CASE name WHEN 'uuid' THEN value END) AS uuid,
         max(CASE name WHEN 'pci' THEN value END) AS pci,
         max(CASE name WHEN 'totalMemory' THEN CAST(value AS INTEGER) END) AS memory,
         max(CASE name WHEN 'memoryBusWidth' THEN CAST(value AS INTEGER) END) AS memory_bits,
         max(CASE name WHEN 'cuda.major' THEN value END) || '.'
         || max(CASE name WHEN 'cuda.minor' THEN value END) AS capability
  FROM last
  GROUP BY process_id, place)
SELECT o.session, o.process_id, o.pid, o.nvml_index, o.name, o.uuid, o.pci, o.memory, o.memory_bits, o.capability,
       d.id AS device_id, d.ordinal AS device
FROM one o
LEFT JOIN (SELECT d.id, d.process, d.ordinal, i.pci FROM device_ d JOIN device_ids i ON i.device_id = d.id) d
  ON d.process = o.process_id AND d.ordinal >= 0
    AND substr(lower(d.pci), 1, instr(d.pci, '.')) = substr(o.pci, 1, instr(o.pci, '.'));
