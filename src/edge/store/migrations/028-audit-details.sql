-- Address of the request, and details of the change such as an amount.
ALTER TABLE audit ADD COLUMN address TEXT;
ALTER TABLE audit ADD COLUMN detail TEXT;
