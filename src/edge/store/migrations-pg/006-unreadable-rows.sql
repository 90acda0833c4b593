-- sqlite: 026
CREATE TABLE unreadable_row (
  table_name TEXT COLLATE "C" NOT NULL,
  row_key TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  original TEXT COLLATE "C" NOT NULL,
  found_us BIGINT NOT NULL,
  PRIMARY KEY (table_name, row_key)
);
