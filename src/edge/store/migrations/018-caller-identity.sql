-- What a trunk is told about callers, and which header fields go on to it.
ALTER TABLE trunk ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';
-- Whether the caller's number was proved (STIR); NULL: of a call before this was known.
ALTER TABLE cdr ADD COLUMN stir_verification TEXT;
ALTER TABLE cdr ADD COLUMN stir_attestation TEXT;
