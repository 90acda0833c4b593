-- Alarms of all nodes with their acknowledgements: active ones, and those that have ended.
CREATE TABLE alarm (
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  since_us INTEGER NOT NULL,
  detail TEXT NOT NULL,
  cleared_us INTEGER,
  acknowledged_us INTEGER,
  acknowledged_by TEXT,
  PRIMARY KEY (node_id, kind, subject, since_us)
) STRICT;
CREATE INDEX alarm_since ON alarm (since_us);
