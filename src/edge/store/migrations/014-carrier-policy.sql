-- Policy of calls to a carrier: timers, failover, routing.
ALTER TABLE carrier ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';
