-- Time at which a number was listed, for lists with a retention period.
ALTER TABLE do_not_call ADD COLUMN added_us INTEGER NOT NULL DEFAULT 0;
UPDATE do_not_call SET added_us = unixepoch() * 1000000;
-- Finds finished campaigns by age.
CREATE INDEX campaign_over ON campaign (updated_us) WHERE status IN ('completed', 'cancelled', 'archived');
