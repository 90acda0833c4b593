-- Money: integer millionths (columns without suffix), time: integer microseconds UTC (`_us`), flags: 0 or 1.
-- Lists and records without separate columns are JSON text.

CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter (name, value) VALUES ('application', 10000000), ('endpoint', 30000000000);

-- Accounts and credentials ---------------------------------------------------------------------------------

CREATE TABLE account (
  auth_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  parent_auth_id TEXT REFERENCES account (auth_id),
  status TEXT NOT NULL,
  currency TEXT NOT NULL,
  country TEXT NOT NULL,
  timezone TEXT NOT NULL,
  concurrent_calls_limit INTEGER NOT NULL,
  cps_limit INTEGER NOT NULL,
  is_partner INTEGER NOT NULL,
  partner_auth_id TEXT,
  limit_transfer_enabled INTEGER NOT NULL,
  barred_prefixes TEXT NOT NULL,
  barred_countries TEXT NOT NULL,
  daily_spend_limit INTEGER,
  default_endpoint_app INTEGER,
  low_balance_url TEXT,
  low_balance_email TEXT,
  email TEXT NOT NULL,
  phone TEXT NOT NULL,
  description TEXT NOT NULL,
  cdr_retention_days INTEGER,
  recording_retention_days INTEGER,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX account_parent ON account (parent_auth_id, created_us);

-- `sealed`: encrypted with the key file. Tokens sign webhooks, so a hash would not suffice.
CREATE TABLE account_token (
  id INTEGER PRIMARY KEY,
  auth_id TEXT NOT NULL REFERENCES account (auth_id) ON DELETE CASCADE,
  sealed BLOB NOT NULL,
  created_us INTEGER NOT NULL,
  expires_us INTEGER
) STRICT;
CREATE INDEX account_token_account ON account_token (auth_id, id);

-- Only the SHA-256 of an access token is stored.
CREATE TABLE access_token (
  hash TEXT PRIMARY KEY,
  auth_id TEXT NOT NULL REFERENCES account (auth_id) ON DELETE CASCADE,
  created_us INTEGER NOT NULL,
  expires_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX access_token_expiry ON access_token (expires_us);

CREATE TABLE idempotency_key (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  response TEXT,
  created_us INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_age ON idempotency_key (created_us);

CREATE TABLE capacity_transfer (
  id INTEGER PRIMARY KEY,
  reference TEXT NOT NULL UNIQUE,
  operation TEXT NOT NULL,
  resource TEXT NOT NULL,
  slots INTEGER NOT NULL,
  partner_auth_id TEXT NOT NULL,
  customer_auth_id TEXT NOT NULL,
  description TEXT NOT NULL,
  partner_remaining INTEGER NOT NULL,
  customer_effective INTEGER NOT NULL,
  created_us INTEGER NOT NULL
) STRICT;
CREATE INDEX capacity_transfer_partner ON capacity_transfer (partner_auth_id, customer_auth_id);

-- Ledger -----------------------------------------------------------------------------------------------------

CREATE TABLE balance (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  currency TEXT NOT NULL,
  balance INTEGER NOT NULL DEFAULT 0,
  reserved_funds INTEGER NOT NULL DEFAULT 0,
  promotional_balance INTEGER NOT NULL DEFAULT 0,
  credit_limit INTEGER NOT NULL DEFAULT 0,
  is_postpaid INTEGER NOT NULL DEFAULT 0,
  credit_limit_type TEXT NOT NULL DEFAULT 'hard',
  low_balance_threshold INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'active',
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL,
  UNIQUE (account_id, currency)
) STRICT, WITHOUT ROWID;

-- `seq` numbers an account's entries from 1 without gaps, in the order of `created_us`. Each page of the whole ledger,
-- or of a time window, is therefore a range of `seq`.
CREATE TABLE entry (
  account_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  balance_id TEXT NOT NULL,
  type TEXT NOT NULL,
  sign INTEGER NOT NULL CHECK (sign IN (-1, 1)),
  amount INTEGER NOT NULL CHECK (amount >= 0),
  currency TEXT NOT NULL,
  description TEXT NOT NULL,
  reference TEXT,
  reference_type TEXT NOT NULL,
  status TEXT NOT NULL,
  promotional INTEGER NOT NULL,
  idempotency_key TEXT,
  processed_us INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL,
  PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entry_id ON entry (id);
CREATE UNIQUE INDEX entry_key ON entry (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX entry_reference ON entry (account_id, reference, type) WHERE reference IS NOT NULL;
CREATE INDEX entry_created ON entry (account_id, created_us, seq);
CREATE INDEX entry_reference_type ON entry (account_id, reference_type, seq);
CREATE INDEX entry_sign ON entry (account_id, sign, seq);
CREATE INDEX entry_unusual_type ON entry (account_id, type, seq) WHERE type NOT IN ('debit', 'credit');
CREATE INDEX entry_unfinished ON entry (account_id, status, seq) WHERE status <> 'completed';

CREATE TABLE ledger_head (
  account_id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  created_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sums per UTC day (days since the epoch), updated with every entry. A summary reads days, not entries.
CREATE TABLE entry_total (
  account_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  currency TEXT NOT NULL,
  reference_type TEXT NOT NULL,
  type TEXT NOT NULL,
  sign INTEGER NOT NULL,
  status TEXT NOT NULL,
  count INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, currency, reference_type, type, sign, status)
) STRICT, WITHOUT ROWID;

-- Reserved amounts. Not entries, because they change. Sum per balance = balance.reserved_funds.
CREATE TABLE reservation (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  balance_id TEXT NOT NULL REFERENCES balance (id),
  amount INTEGER NOT NULL CHECK (amount >= 0),
  created_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reservation_balance ON reservation (balance_id);

CREATE TABLE rate (
  direction TEXT NOT NULL,
  prefix TEXT NOT NULL,
  currency TEXT NOT NULL,
  account_id TEXT NOT NULL,
  per_minute INTEGER NOT NULL,
  pulse_seconds INTEGER NOT NULL,
  PRIMARY KEY (direction, currency, account_id, prefix)
) STRICT, WITHOUT ROWID;

-- Provisioning -----------------------------------------------------------------------------------------------

CREATE TABLE application (
  app_id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  sub_account TEXT,
  name TEXT NOT NULL,
  answer_url TEXT NOT NULL,
  answer_method TEXT NOT NULL,
  hangup_url TEXT NOT NULL,
  hangup_method TEXT NOT NULL,
  fallback_answer_url TEXT NOT NULL,
  fallback_method TEXT NOT NULL,
  message_url TEXT NOT NULL,
  message_method TEXT NOT NULL,
  default_app INTEGER NOT NULL,
  default_endpoint_app INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  log_incoming_message INTEGER NOT NULL,
  public_uri INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT;
CREATE INDEX application_account ON application (account_id, app_id);

CREATE TABLE endpoint (
  endpoint_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  sub_account TEXT,
  username TEXT NOT NULL UNIQUE,
  requested_username TEXT NOT NULL,
  alias TEXT NOT NULL,
  app_id INTEGER REFERENCES application (app_id),
  allow_voice INTEGER NOT NULL,
  allow_message INTEGER NOT NULL,
  allow_video INTEGER NOT NULL,
  allow_same_domain INTEGER NOT NULL,
  allow_other_domains INTEGER NOT NULL,
  allow_phones INTEGER NOT NULL,
  allow_apps INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL,
  UNIQUE (account_id, requested_username)
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoint_application ON endpoint (app_id);

CREATE TABLE endpoint_secret (
  endpoint_id TEXT PRIMARY KEY REFERENCES endpoint (endpoint_id) ON DELETE CASCADE,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE binding (
  username TEXT NOT NULL,
  contact_uri TEXT NOT NULL,
  call_id TEXT NOT NULL,
  cseq INTEGER NOT NULL,
  expires_us INTEGER NOT NULL,
  q REAL NOT NULL,
  instance_id TEXT,
  user_agent TEXT NOT NULL,
  flow TEXT NOT NULL,
  path TEXT NOT NULL,
  updated_us INTEGER NOT NULL,
  PRIMARY KEY (username, contact_uri)
) STRICT, WITHOUT ROWID;

CREATE TABLE origination_uri (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  name TEXT NOT NULL,
  sip_uri TEXT NOT NULL,
  priority INTEGER NOT NULL,
  weight INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  description TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX origination_uri_account ON origination_uri (account_id, created_us);

CREATE TABLE trunk_credential (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  username TEXT NOT NULL,
  realm TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX trunk_credential_account ON trunk_credential (account_id, created_us);

CREATE TABLE trunk_credential_secret (
  id TEXT PRIMARY KEY REFERENCES trunk_credential (id) ON DELETE CASCADE,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ip_acl (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  ip_address TEXT NOT NULL,
  description TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ip_acl_account ON ip_acl (account_id, created_us);

CREATE TABLE trunk (
  trunk_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  name TEXT NOT NULL,
  direction TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  transport TEXT NOT NULL,
  secure INTEGER NOT NULL,
  primary_uri_uuid TEXT REFERENCES origination_uri (id),
  fallback_uri_uuid TEXT REFERENCES origination_uri (id),
  credential_uuid TEXT REFERENCES trunk_credential (id),
  ipacl_uuid TEXT REFERENCES ip_acl (id),
  concurrent_calls_limit INTEGER NOT NULL,
  cps_limit INTEGER NOT NULL,
  description TEXT NOT NULL,
  recording INTEGER NOT NULL,
  webhook_url TEXT,
  webhook_method TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX trunk_account ON trunk (account_id, created_us);
CREATE INDEX trunk_primary_uri ON trunk (primary_uri_uuid);
CREATE INDEX trunk_fallback_uri ON trunk (fallback_uri_uuid);
CREATE INDEX trunk_credential_use ON trunk (credential_uuid);
CREATE INDEX trunk_ip_acl_use ON trunk (ipacl_uuid);

CREATE TABLE phone_number (
  e164 TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  account_id TEXT REFERENCES account (auth_id),
  sub_account TEXT,
  country TEXT NOT NULL,
  region TEXT NOT NULL,
  status TEXT NOT NULL,
  setup_fee INTEGER NOT NULL,
  monthly_fee INTEGER NOT NULL,
  currency TEXT NOT NULL,
  carrier TEXT,
  application_id INTEGER REFERENCES application (app_id),
  trunk_group_id TEXT REFERENCES trunk (trunk_id),
  purchased_us INTEGER,
  next_billing_us INTEGER,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX phone_number_account ON phone_number (account_id, e164);
CREATE INDEX phone_number_status ON phone_number (status, country, e164);
CREATE INDEX phone_number_application ON phone_number (application_id);
CREATE INDEX phone_number_trunk ON phone_number (trunk_group_id);
CREATE INDEX phone_number_rental ON phone_number (next_billing_us) WHERE next_billing_us IS NOT NULL;

-- `auth` is encrypted: it contains the password issued by the carrier.
CREATE TABLE carrier (
  name TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  port INTEGER,
  transport TEXT NOT NULL,
  auth BLOB,
  source_addresses TEXT NOT NULL,
  prefixes TEXT NOT NULL,
  strip INTEGER NOT NULL,
  prepend TEXT NOT NULL,
  cps_limit INTEGER NOT NULL,
  concurrent_calls_limit INTEGER NOT NULL,
  secure INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  enabled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE caller_id (
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  e164 TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  PRIMARY KEY (account_id, e164)
) STRICT, WITHOUT ROWID;

-- Calls ------------------------------------------------------------------------------------------------------

-- Running calls, with the data to close and bill them after a crash. `record` is the whole OpenCall as JSON.
CREATE TABLE open_call (
  call_uuid TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  heartbeat_us INTEGER NOT NULL,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cdr (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  call_uuid TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  direction TEXT NOT NULL,
  context TEXT NOT NULL,
  from_number TEXT NOT NULL,
  to_number TEXT NOT NULL,
  caller_name TEXT NOT NULL,
  request_uuid TEXT,
  parent_call_uuid TEXT,
  bridge_uuid TEXT,
  start_us INTEGER NOT NULL,
  ring_us INTEGER,
  answer_us INTEGER,
  end_us INTEGER NOT NULL,
  billed_seconds INTEGER NOT NULL,
  per_minute INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  streaming_cost INTEGER NOT NULL,
  currency TEXT NOT NULL,
  hangup_cause TEXT NOT NULL,
  hangup_cause_code INTEGER NOT NULL,
  hangup_cause_name TEXT NOT NULL,
  hangup_source TEXT NOT NULL,
  hangup_disposition TEXT NOT NULL,
  failure_reason TEXT,
  sip_call_id TEXT,
  sip_user_agent TEXT,
  remote_address TEXT,
  carrier TEXT,
  codec TEXT,
  quality TEXT,
  endpoint_id TEXT,
  trunk_id TEXT,
  terminated_to TEXT,
  campaign_id TEXT,
  machine INTEGER,
  streams TEXT NOT NULL,
  created_us INTEGER NOT NULL
) STRICT;
CREATE INDEX cdr_account ON cdr (account_id, number);
CREATE INDEX cdr_start ON cdr (account_id, start_us);
CREATE INDEX cdr_end ON cdr (account_id, end_us);
CREATE INDEX cdr_from ON cdr (account_id, from_number, number);
CREATE INDEX cdr_to ON cdr (account_id, to_number, number);
CREATE INDEX cdr_sip_call_id ON cdr (sip_call_id) WHERE sip_call_id IS NOT NULL;

CREATE TABLE call_log (
  id INTEGER PRIMARY KEY,
  call_uuid TEXT NOT NULL,
  account_id TEXT NOT NULL,
  at_us INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX call_log_call ON call_log (call_uuid, at_us, id);
CREATE INDEX call_log_age ON call_log (at_us);

-- Notifications until they are acknowledged or abandoned.
CREATE TABLE notification (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  call_uuid TEXT NOT NULL,
  event TEXT NOT NULL,
  target TEXT NOT NULL,
  parameters TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  attempts INTEGER NOT NULL
) STRICT;

CREATE TABLE recording (
  recording_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  call_uuid TEXT,
  conference_name TEXT,
  conference_uuid TEXT,
  from_number TEXT NOT NULL,
  to_number TEXT NOT NULL,
  format TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  file TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  start_us INTEGER,
  end_us INTEGER,
  added_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX recording_added ON recording (account_id, added_us, recording_id);
CREATE INDEX recording_call ON recording (call_uuid);

CREATE TABLE export_job (
  export_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  recipients TEXT NOT NULL,
  filter TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  file TEXT,
  recordings INTEGER NOT NULL,
  error TEXT,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX export_job_one_per_account ON export_job (account_id) WHERE status IN ('queued', 'running');
