-- Stored for compatibility as submitted, including fractions.
ALTER TABLE campaign ADD COLUMN calls_per_second REAL NOT NULL DEFAULT 1;
UPDATE campaign SET calls_per_second = cps;
ALTER TABLE campaign DROP COLUMN cps;
