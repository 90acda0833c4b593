-- What is to be charged and told once the file of a recording stands: also by the process that finds it cut off by a crash.
ALTER TABLE recording ADD COLUMN dues TEXT;
