-- A notification that is a JSON document instead of parameters.
ALTER TABLE notification ADD COLUMN json TEXT;
