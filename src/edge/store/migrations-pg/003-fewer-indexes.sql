-- Every leg that ends writes a row of `cdr` and one of `entry`, and a page of each index: those that hardly any call is found by
-- leave the calls out, or go.
-- sqlite: 023
DROP INDEX reservation_balance;
-- An entry's number rises with its time: the first of a window is found among the numbers.
DROP INDEX entry_created;
DROP INDEX entry_sign;
DROP INDEX entry_reference_type;
CREATE INDEX entry_credit ON entry (account_id, sign, seq) WHERE sign = 1;
CREATE INDEX entry_other_reference ON entry (account_id, reference_type, seq) WHERE reference_type <> 'cdr';
