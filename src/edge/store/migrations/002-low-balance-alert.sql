-- Set while the account has been told that its balance is low; cleared when it is not low any more.
ALTER TABLE balance ADD COLUMN low_balance_alerted INTEGER NOT NULL DEFAULT 0;
