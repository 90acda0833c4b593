-- sqlite: 027
-- Charged time of a recording, in whole pulses. NULL: recorded by an earlier version, or not charged.
ALTER TABLE recording ADD COLUMN billed_ms BIGINT;
-- Name of a number, chosen by the account.
ALTER TABLE phone_number ADD COLUMN alias TEXT COLLATE "C";
-- Time of a failed renewal payment. NULL while the number is not suspended.
ALTER TABLE phone_number ADD COLUMN suspended_us BIGINT;
