-- sqlite: 024
-- Numbers that stood on a do-not-call list for too long are found by their time: a list has millions.
CREATE INDEX do_not_call_added ON do_not_call (added_us);
