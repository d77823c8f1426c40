-- The line of a frame.
SELECT place || ':' || coalesce(line, '?') || coalesce(' ' || function, '') AS line
FROM frame_places WHERE frame = :frame
