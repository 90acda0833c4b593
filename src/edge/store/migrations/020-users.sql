-- Users of the console.
CREATE TABLE console_user (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  account_id TEXT,
  password_hash TEXT NOT NULL,
  totp_secret BLOB,
  totp_step INTEGER NOT NULL,
  created_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE user_invitation (
  token_hash TEXT PRIMARY KEY,
  email TEXT,
  role TEXT NOT NULL,
  account_id TEXT,
  expires_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE user_session (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  seen_us INTEGER NOT NULL,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX user_session_user ON user_session (user_id, created_us);
-- Audit log. Entries are never changed.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at_us INTEGER NOT NULL,
  who TEXT NOT NULL,
  account_id TEXT,
  what TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  status INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_account ON audit (account_id, id);
