-- Processes that share this store. The epoch of a node increases at each start, and when another node declares it dead.
-- Rows of an earlier epoch are orphaned; a node adopts them in one unit of work.
CREATE TABLE node (
  node_id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  beats INTEGER NOT NULL,
  begun_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Cluster-wide jobs, each of which one node runs.
CREATE TABLE job_lease (
  job TEXT PRIMARY KEY,
  node_id TEXT NOT NULL,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Node and epoch that own a row. '' and 0 (rows of earlier versions): no owner.
ALTER TABLE open_call ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
ALTER TABLE open_call ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notification ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
ALTER TABLE notification ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE export_job ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
ALTER TABLE export_job ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE recording ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
ALTER TABLE recording ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transcription ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
ALTER TABLE transcription ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign_list ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
ALTER TABLE campaign_list ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
