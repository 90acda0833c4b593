-- 0: no phone rang, so the attempt counts towards no limit.
ALTER TABLE campaign_attempt ADD COLUMN counted INTEGER NOT NULL DEFAULT 1;
