-- The release of a number can be undone until its cooldown ends (dialect §3.8).
ALTER TABLE phone_number ADD COLUMN cooldown_ends_us INTEGER;
ALTER TABLE phone_number ADD COLUMN released_us INTEGER;
ALTER TABLE phone_number ADD COLUMN last_billed_us INTEGER;
CREATE INDEX phone_number_cooldown ON phone_number (cooldown_ends_us) WHERE cooldown_ends_us IS NOT NULL;

-- Sub-account of the call, which may see it.
ALTER TABLE cdr ADD COLUMN sub_account TEXT;
CREATE INDEX cdr_sub_account ON cdr (account_id, sub_account, number) WHERE sub_account IS NOT NULL;
ALTER TABLE recording ADD COLUMN sub_account TEXT;
CREATE INDEX recording_sub_account ON recording (account_id, sub_account, added_us) WHERE sub_account IS NOT NULL;
