-- Campaigns: agents, plans, contact lists, attempts, pools of caller IDs, do-not-call lists.
CREATE TABLE campaign_agent (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  sub_account TEXT,
  name TEXT NOT NULL,
  answer TEXT NOT NULL,
  hangup TEXT,
  fallback TEXT,
  ring TEXT,
  sip_headers TEXT NOT NULL,
  machine_detection TEXT,
  record TEXT,
  time_limit_s INTEGER NOT NULL,
  ring_timeout_s INTEGER,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT;
CREATE INDEX campaign_agent_account ON campaign_agent (account_id, seq);

-- The contacts of one upload. `open`: rows are being added. `current`: used by a campaign. Other lists are deleted in batches.
CREATE TABLE campaign_list (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  campaign_id TEXT NOT NULL,
  state TEXT NOT NULL,
  contacts INTEGER NOT NULL DEFAULT 0,
  bad_rows INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The counters change together with the status of a contact, in the same unit of work.
CREATE TABLE campaign (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  sub_account TEXT,
  list INTEGER REFERENCES campaign_list (number),
  name TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  max_concurrent INTEGER NOT NULL,
  cps INTEGER NOT NULL,
  timezone TEXT NOT NULL,
  contact_timezone TEXT NOT NULL,
  dial_window TEXT,
  scheduled_us INTEGER,
  expires_us INTEGER,
  retry TEXT NOT NULL,
  caller_id_strategy TEXT NOT NULL,
  fixed_caller_id TEXT,
  pool TEXT NOT NULL,
  abandonment TEXT,
  notify_url TEXT,
  status TEXT NOT NULL,
  pause_reason TEXT,
  consecutive_failures INTEGER NOT NULL,
  queued_us INTEGER,
  started_us INTEGER,
  completed_us INTEGER,
  last_dial_us INTEGER,
  pending INTEGER NOT NULL,
  dialling INTEGER NOT NULL,
  answered INTEGER NOT NULL,
  no_answer INTEGER NOT NULL,
  busy INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  retry_pending INTEGER NOT NULL,
  expired INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL
) STRICT;
CREATE INDEX campaign_account ON campaign (account_id, seq);
CREATE INDEX campaign_agent_use ON campaign (agent_id);
CREATE INDEX campaign_unfinished ON campaign (status) WHERE status IN ('ready', 'queued', 'running', 'paused');

-- `due_us`: 0 if never called, the time of the next retry, or NULL if the contact is being called or is finished.
CREATE TABLE campaign_contact (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  list INTEGER NOT NULL REFERENCES campaign_list (number),
  row_number INTEGER NOT NULL,
  to_number TEXT NOT NULL,
  from_number TEXT,
  answer_url TEXT,
  hangup_url TEXT,
  headers TEXT NOT NULL,
  timezone TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT,
  attempts INTEGER NOT NULL,
  due_us INTEGER,
  first_dial_us INTEGER,
  call_uuid TEXT
) STRICT;
CREATE UNIQUE INDEX campaign_contact_row ON campaign_contact (list, row_number);
CREATE UNIQUE INDEX campaign_contact_number ON campaign_contact (list, to_number);
CREATE INDEX campaign_contact_due ON campaign_contact (list, timezone, due_us, id) WHERE due_us IS NOT NULL;
CREATE INDEX campaign_contact_status ON campaign_contact (list, status, row_number);

CREATE TABLE campaign_bad_row (
  list INTEGER NOT NULL REFERENCES campaign_list (number),
  row_number INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (list, row_number)
) STRICT, WITHOUT ROWID;

-- Written before the call is placed, and closed with the resulting status of the contact.
CREATE TABLE campaign_attempt (
  seq INTEGER PRIMARY KEY,
  call_uuid TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  contact_id INTEGER NOT NULL,
  row_number INTEGER NOT NULL,
  attempt_number INTEGER NOT NULL,
  to_number TEXT NOT NULL,
  from_number TEXT NOT NULL,
  status TEXT NOT NULL,
  placed_us INTEGER NOT NULL,
  answered_us INTEGER,
  ended_us INTEGER,
  hangup_cause TEXT,
  hangup_cause_code INTEGER,
  machine INTEGER
) STRICT;
CREATE INDEX campaign_attempt_campaign ON campaign_attempt (campaign_id, seq);
CREATE INDEX campaign_attempt_number ON campaign_attempt (account_id, to_number, placed_us);
CREATE INDEX campaign_attempt_open ON campaign_attempt (seq) WHERE ended_us IS NULL;

CREATE TABLE campaign_number (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  campaign_id TEXT NOT NULL REFERENCES campaign (id),
  number TEXT NOT NULL,
  label TEXT NOT NULL,
  total_calls INTEGER NOT NULL,
  day TEXT NOT NULL,
  calls_of_day INTEGER NOT NULL,
  last_used_us INTEGER,
  UNIQUE (campaign_id, number)
) STRICT;

-- `scope`: a main account, or `operator` for all accounts.
CREATE TABLE do_not_call (
  scope TEXT NOT NULL,
  number TEXT NOT NULL,
  PRIMARY KEY (scope, number)
) STRICT, WITHOUT ROWID;
