-- Permissions of a sub-account, and its maximum number of requests per second (dialect §3.10).
ALTER TABLE account ADD COLUMN permissions TEXT NOT NULL DEFAULT '{}';
ALTER TABLE account ADD COLUMN rate_limit INTEGER;
