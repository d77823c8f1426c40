-- Every property of a device that a program was told, and by which function
-- sort: property
-- leave: first_ns seen_by n
-- column: device    id     as the processes number it
-- column: property  text   field or attribute
-- column: value     text   what the program received
-- column: source    text   api:FUNCTION, or override
-- column: seen_by   text   ids of the processes
-- column: n         count  how often the value changed to this
-- column: first_ns  time   when first
-- column: differs   yesno  other values were told for the same property
SELECT device, name AS property, value, source, group_concat(DISTINCT pid) AS seen_by, count(*) AS n, min(start) AS first_ns,
       min(value) OVER (PARTITION BY session, device, name) <> max(value) OVER (PARTITION BY session, device, name) AS differs
FROM device_properties
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND device = :device */
  /*? AND name REGEXP :name */
GROUP BY session, device, name, value, source
