-- Answer of a party to a request for consent, with its time. NULL: the party was not asked.
ALTER TABLE cdr ADD COLUMN consent TEXT;
ALTER TABLE cdr ADD COLUMN consent_us INTEGER;
