-- How calls to a carrier are made: timers, failover, routing.
ALTER TABLE carrier ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';
