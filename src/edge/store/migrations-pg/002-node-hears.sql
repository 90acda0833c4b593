-- Whether the node could reach Redis at its last heartbeat.
-- sqlite: 022

ALTER TABLE node ADD COLUMN hears BIGINT NOT NULL DEFAULT 1;
