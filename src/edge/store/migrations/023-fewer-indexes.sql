-- Every leg that ends writes a row of `cdr` and one of `entry`, and a page of each index. Rarely used indexes therefore become
-- partial or are dropped.
DROP INDEX reservation_balance;
-- Entry numbers ascend with time, so a binary search by number finds the first entry of a time window.
DROP INDEX entry_created;
DROP INDEX entry_sign;
DROP INDEX entry_reference_type;
CREATE INDEX entry_credit ON entry (account_id, sign, seq) WHERE sign = 1;
CREATE INDEX entry_other_reference ON entry (account_id, reference_type, seq) WHERE reference_type <> 'cdr';
-- Statistics for the query planner: millions of rows of one account, few of them unusual. Otherwise the planner reads all entries
-- of an account instead of using a partial index. Columns: https://www.sqlite.org/fileformat2.html#stat1tab
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('entry', 'entry', '10000000 1000000 1'),
  ('entry', 'entry_id', '10000000 1'),
  ('entry', 'entry_key', '1000000 100000 1'),
  ('entry', 'entry_reference', '10000000 1000000 1 1'),
  ('entry', 'entry_credit', '100000 10000 10000 1'),
  ('entry', 'entry_other_reference', '100000 10000 5000 1'),
  ('entry', 'entry_unusual_type', '100000 10000 5000 1'),
  ('entry', 'entry_unfinished', '1000 100 50 1'),
  ('cdr', 'sqlite_autoindex_cdr_1', '10000000 1'),
  ('cdr', 'cdr_account', '10000000 800000 1'),
  ('cdr', 'cdr_start', '10000000 1000000 1'),
  ('cdr', 'cdr_end', '10000000 1000000 1'),
  ('cdr', 'cdr_from', '10000000 1000000 20 1'),
  ('cdr', 'cdr_to', '10000000 1000000 2000 1'),
  ('cdr', 'cdr_sip_call_id', '10000000 1'),
  ('cdr', 'cdr_sub_account', '1000000 100000 10000 1');
ANALYZE sqlite_schema;
