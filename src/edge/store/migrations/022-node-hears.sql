-- Whether the node could ask Redis for the others at its last beat.
ALTER TABLE node ADD COLUMN hears INTEGER NOT NULL DEFAULT 1;
