-- What waits in the store alone is found by account, or by campaign, however much of others there is.
CREATE INDEX notification_account ON notification (account_id, seq) WHERE json IS NULL;
CREATE INDEX notification_json ON notification (account_id, call_uuid, seq) WHERE json IS NOT NULL;
