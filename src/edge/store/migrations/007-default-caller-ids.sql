-- Default caller ID of calls from endpoints whose document names none: of the endpoint, its application, or the account.
ALTER TABLE endpoint ADD COLUMN caller_id TEXT;
ALTER TABLE application ADD COLUMN caller_id TEXT;
ALTER TABLE account ADD COLUMN default_caller_id TEXT;
-- Addresses that a trunk's origination URIs may use in addition to those allowed for every customer.
ALTER TABLE trunk ADD COLUMN egress_allow TEXT NOT NULL DEFAULT '[]';
