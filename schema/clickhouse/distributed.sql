-- All shards of a local table or view. Rows go to the shard of their recording, so a recording is on one shard.
CREATE TABLE IF NOT EXISTS {name} AS {local} ENGINE = Distributed({cluster}, {database}, {local}, cityHash64(recording))
