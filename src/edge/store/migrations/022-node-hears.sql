-- Whether the node could reach Redis at its last heartbeat.
ALTER TABLE node ADD COLUMN hears INTEGER NOT NULL DEFAULT 1;
