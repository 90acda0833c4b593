-- Since when a number is listed, for those who keep such lists for a time alone.
ALTER TABLE do_not_call ADD COLUMN added_us INTEGER NOT NULL DEFAULT 0;
UPDATE do_not_call SET added_us = unixepoch() * 1000000;
-- Campaigns that are over are found by age.
CREATE INDEX campaign_over ON campaign (updated_us) WHERE status IN ('completed', 'cancelled', 'archived');
