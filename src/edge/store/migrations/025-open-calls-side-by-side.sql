-- Open records are long. As index entries they need overflow pages, and rebalance neighboring pages often. As table rows they
-- are adjacent.
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
