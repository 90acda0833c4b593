-- What the calls of endpoints show where their document names no caller id: the endpoint's, its application's, the account's.
ALTER TABLE endpoint ADD COLUMN caller_id TEXT;
ALTER TABLE application ADD COLUMN caller_id TEXT;
ALTER TABLE account ADD COLUMN default_caller_id TEXT;
-- Addresses that the operator lets a trunk's origination URIs lead to, besides those that every customer may reach.
ALTER TABLE trunk ADD COLUMN egress_allow TEXT NOT NULL DEFAULT '[]';
