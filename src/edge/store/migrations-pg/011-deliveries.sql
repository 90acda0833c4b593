-- sqlite: 030
-- Latest requests to customers' URLs. `request` is JSON with the parameters for a replay.
CREATE TABLE webhook_delivery (
  id TEXT COLLATE "C" PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL,
  at_us BIGINT NOT NULL,
  event TEXT COLLATE "C" NOT NULL,
  method TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  status BIGINT,
  error TEXT COLLATE "C",
  duration_us BIGINT NOT NULL,
  signed_string TEXT COLLATE "C" NOT NULL,
  is_delivered BIGINT NOT NULL,
  call_uuid TEXT COLLATE "C",
  replay_of TEXT COLLATE "C",
  request TEXT COLLATE "C" NOT NULL,
  request_body TEXT COLLATE "C" NOT NULL,
  response_body TEXT COLLATE "C" NOT NULL
);
CREATE INDEX webhook_delivery_account ON webhook_delivery (account_id, at_us);
CREATE INDEX webhook_delivery_at ON webhook_delivery (at_us);

-- Last use of the API credentials of each account.
CREATE TABLE credential_use (
  account_id TEXT COLLATE "C" PRIMARY KEY,
  at_us BIGINT NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  user_agent TEXT COLLATE "C" NOT NULL,
  requests BIGINT NOT NULL
);
