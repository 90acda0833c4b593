-- SIP logins created from customer tokens, and revoked tokens.
CREATE TABLE phone_login (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  key_digest TEXT NOT NULL,
  jti TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  username TEXT NOT NULL,
  incoming INTEGER NOT NULL,
  outgoing INTEGER NOT NULL,
  expires_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX phone_login_account ON phone_login (account_id, expires_us);
CREATE TABLE revoked_token (
  account_id TEXT NOT NULL,
  jti TEXT NOT NULL,
  until_us INTEGER NOT NULL,
  PRIMARY KEY (account_id, jti)
) STRICT, WITHOUT ROWID;
-- Login that registered a contact.
ALTER TABLE binding ADD COLUMN login TEXT;
