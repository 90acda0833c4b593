-- Rows that this version could not read. They stay in their tables; `original` is a copy of each.
CREATE TABLE unreadable_row (
  table_name TEXT NOT NULL,
  row_key TEXT NOT NULL,
  reason TEXT NOT NULL,
  original TEXT NOT NULL,
  found_us INTEGER NOT NULL,
  PRIMARY KEY (table_name, row_key)
) STRICT;
