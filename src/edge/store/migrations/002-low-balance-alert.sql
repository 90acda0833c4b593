-- Set when the account was notified of a low balance; cleared when the balance is no longer low.
ALTER TABLE balance ADD COLUMN low_balance_alerted INTEGER NOT NULL DEFAULT 0;
