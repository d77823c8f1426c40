-- The kernel that a call launched first, and how many it launched.
SELECT name, grid_x, grid_y, grid_z, block_x, block_y, block_z, stream_hex, device, more
FROM launches
WHERE id = :id
ORDER BY nth
LIMIT 1
