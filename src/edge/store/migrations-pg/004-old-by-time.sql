-- sqlite: 024
-- Finds do-not-call numbers past their retention by time, because a list may have millions of numbers.
CREATE INDEX do_not_call_added ON do_not_call (added_us);
