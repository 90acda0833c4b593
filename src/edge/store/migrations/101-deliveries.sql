-- Latest requests to customers' URLs. `request` is JSON with the parameters for a replay.
CREATE TABLE webhook_delivery (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  at_us INTEGER NOT NULL,
  event TEXT NOT NULL,
  method TEXT NOT NULL,
  url TEXT NOT NULL,
  status INTEGER,
  error TEXT,
  duration_us INTEGER NOT NULL,
  signed_string TEXT NOT NULL,
  is_delivered INTEGER NOT NULL,
  call_uuid TEXT,
  replay_of TEXT,
  request TEXT NOT NULL,
  request_body TEXT NOT NULL,
  response_body TEXT NOT NULL
) STRICT;
CREATE INDEX webhook_delivery_account ON webhook_delivery (account_id, at_us);
CREATE INDEX webhook_delivery_at ON webhook_delivery (at_us);

-- Last use of the API credentials of each account.
CREATE TABLE credential_use (
  account_id TEXT PRIMARY KEY,
  at_us INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  requests INTEGER NOT NULL
) STRICT;
