-- Responses are encrypted because they may contain tokens. Old rows are dropped: they expire within a day anyway.
DELETE FROM idempotency_key;
CREATE INDEX idempotency_key_order ON idempotency_key (account_id, created_us);
