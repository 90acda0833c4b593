-- Finds notifications that wait only in the store by account or campaign, independent of the total number.
CREATE INDEX notification_account ON notification (account_id, seq) WHERE json IS NULL;
CREATE INDEX notification_json ON notification (account_id, call_uuid, seq) WHERE json IS NOT NULL;
