-- sqlite: 029
-- Alarms of all nodes with their acknowledgements: active ones, and those that have ended.
CREATE TABLE alarm (
  node_id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  since_us BIGINT NOT NULL,
  detail TEXT COLLATE "C" NOT NULL,
  cleared_us BIGINT,
  acknowledged_us BIGINT,
  acknowledged_by TEXT COLLATE "C",
  PRIMARY KEY (node_id, kind, subject, since_us)
);
CREATE INDEX alarm_since ON alarm (since_us);
