-- Every leg that ends writes a row of `cdr` and one of `entry`, and a page of each index. Rarely used indexes therefore become
-- partial or are dropped.
-- sqlite: 023
DROP INDEX reservation_balance;
-- Entry numbers ascend with time, so a binary search by number finds the first entry of a time window.
DROP INDEX entry_created;
DROP INDEX entry_sign;
DROP INDEX entry_reference_type;
CREATE INDEX entry_credit ON entry (account_id, sign, seq) WHERE sign = 1;
CREATE INDEX entry_other_reference ON entry (account_id, reference_type, seq) WHERE reference_type <> 'cdr';
