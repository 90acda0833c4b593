-- Low-balance alerts that have not been sent yet.
CREATE TABLE low_balance_alert (
  id INTEGER PRIMARY KEY,
  balance_id TEXT NOT NULL REFERENCES balance (id),
  account_id TEXT NOT NULL,
  currency TEXT NOT NULL,
  available INTEGER NOT NULL,
  threshold INTEGER NOT NULL,
  fallen_us INTEGER NOT NULL
) STRICT;
