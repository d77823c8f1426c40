-- The newest complete snapshot of each recording. {name}, {all} and {snapshots} are names of tables (cluster.sql).
CREATE VIEW IF NOT EXISTS {name} AS
SELECT * FROM {all}
WHERE (recording, snapshot) IN (
  SELECT recording, max(snapshot) FROM {snapshots} WHERE name = '{view}' GROUP BY recording)
