-- What a sub-account may be kept from, and how many requests a second it may send (dialect §3.10).
ALTER TABLE account ADD COLUMN permissions TEXT NOT NULL DEFAULT '{}';
ALTER TABLE account ADD COLUMN rate_limit INTEGER;
