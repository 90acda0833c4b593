-- sqlite: 027
-- Time of a recording that was charged, in whole pulses. NULL: recorded by an earlier version, or not charged.
ALTER TABLE recording ADD COLUMN billed_ms BIGINT;
-- A name that the account gives a number.
ALTER TABLE phone_number ADD COLUMN alias TEXT COLLATE "C";
-- When a renewal could not be paid; NULL while the number is not suspended.
ALTER TABLE phone_number ADD COLUMN suspended_us BIGINT;
