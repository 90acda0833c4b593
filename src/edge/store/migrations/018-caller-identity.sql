-- Caller identity sent to a trunk, and header fields passed on to it.
ALTER TABLE trunk ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';
-- Whether the caller's number was verified (STIR). NULL: calls before this column existed.
ALTER TABLE cdr ADD COLUMN stir_verification TEXT;
ALTER TABLE cdr ADD COLUMN stir_attestation TEXT;
