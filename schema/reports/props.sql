-- Every property of a device that a program was told, and by which function
-- sort: property
-- about: The driver's and the reference table's value of the same fact are shown beside it, in their own unit (MHz
--   instead of HIP's kHz).
-- leave: first_ns seen_by n reference
-- none: no program asked about a device
-- question: devices
-- topic: queries
-- events: device
-- column: device    id     as the processes number it
-- column: property  text   field or attribute
-- column: value     text   what the program received
-- column: source    text   api:FUNCTION, or override:FUNCTION
-- column: driver    text   what the driver says of the same fact
-- column: reference text   what the reference table says
-- column: seen_by   text   ids of the processes
-- column: n         count  how often the value changed to this
-- column: first_ns  time   when first
-- column: differs   yesno  other values were told for the same property
SELECT p.device, p.name AS property, p.value, p.source, f.driver || CASE f.fact
           WHEN 'multiprocessors' THEN ' CU' ELSE rtrim(' ' || f.unit) END AS driver,
       f.reference || CASE f.fact WHEN 'multiprocessors' THEN ' CU' WHEN 'clock' THEN ' MHz boost'
           ELSE rtrim(' ' || f.unit) END AS reference,
       group_concat(DISTINCT p.pid) AS seen_by, count(*) AS n, min(p.start) AS first_ns,
       min(p.value) OVER (PARTITION BY p.session, p.device,
                          p.name) <> max(p.value) OVER (PARTITION BY p.session, p.device, p.name) AS differs
FROM device_properties p
LEFT JOIN devices d ON d.session = p.session AND d.pid = p.pid AND d.ordinal = p.device
LEFT JOIN device_facts f ON f.device_id = d.id AND instr(',' || f.properties || ',', ',' || p.name || ',') > 0
WHERE true /*? AND p.session = :session */ /*? AND p.pid = :pid */
    /*? AND (p.session, p.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND p.device = :device */
  /*? AND p.name REGEXP :name */
GROUP BY p.session, p.device, p.name, p.value, p.source
