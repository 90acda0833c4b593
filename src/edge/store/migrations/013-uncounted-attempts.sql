-- 0: nobody was rung; it counts for no limit.
ALTER TABLE campaign_attempt ADD COLUMN counted INTEGER NOT NULL DEFAULT 1;
