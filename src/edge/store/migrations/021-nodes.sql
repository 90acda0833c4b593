-- Processes that share this store. Each start of one, and each declaration of its death by another, makes its epoch grow:
-- rows of an earlier epoch are nobody's, and whoever takes them up does so in one unit of work.
CREATE TABLE node (
  node_id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  beats INTEGER NOT NULL,
  begun_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Work that one node does for all.
CREATE TABLE job_lease (
  job TEXT PRIMARY KEY,
  node_id TEXT NOT NULL,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whose a row is; '' and 0, of earlier versions: nobody's.
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
