-- Charges and callbacks that are due when the file of a recording is complete, also after a crash during the recording.
ALTER TABLE recording ADD COLUMN dues TEXT;
