-- Charged time of a recording, in whole pulses. NULL: recorded by an earlier version, or not charged.
ALTER TABLE recording ADD COLUMN billed_ms INTEGER;
-- Name of a number, chosen by the account.
ALTER TABLE phone_number ADD COLUMN alias TEXT;
-- Time of a failed renewal payment. NULL while the number is not suspended.
ALTER TABLE phone_number ADD COLUMN suspended_us INTEGER;
