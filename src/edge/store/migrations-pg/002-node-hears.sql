-- Whether the node could ask Redis for the others at its last beat.
-- sqlite: 022

ALTER TABLE node ADD COLUMN hears BIGINT NOT NULL DEFAULT 1;
