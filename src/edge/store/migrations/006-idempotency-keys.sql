-- Answers are kept encrypted: they may hold tokens. Those of the last day are not worth taking along.
DELETE FROM idempotency_key;
CREATE INDEX idempotency_key_order ON idempotency_key (account_id, created_us);
