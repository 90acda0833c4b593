-- Open records are long: as entries of an index they spill onto pages of their own, and every few of them rearrange those beside
-- them. As rows of a table they follow one another.
CREATE TABLE open_call_row (
  call_uuid TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  heartbeat_us INTEGER NOT NULL,
  record TEXT NOT NULL,
  node_id TEXT NOT NULL DEFAULT '',
  epoch INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO open_call_row (call_uuid, account_id, heartbeat_us, record, node_id, epoch)
  SELECT call_uuid, account_id, heartbeat_us, record, node_id, epoch FROM open_call ORDER BY call_uuid;
DROP TABLE open_call;
ALTER TABLE open_call_row RENAME TO open_call;
