-- Transcriptions of recordings. Requested when a recording begins, so that a restart can resume them.
CREATE TABLE transcription (
  transcription_id TEXT PRIMARY KEY,
  recording_id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES account (auth_id),
  sub_account TEXT,
  call_uuid TEXT,
  subject TEXT NOT NULL,
  language TEXT NOT NULL,
  currency TEXT NOT NULL,
  target TEXT,
  status TEXT NOT NULL,
  text TEXT NOT NULL,
  error TEXT,
  duration_ms INTEGER NOT NULL,
  charge INTEGER NOT NULL,
  per_minute INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  ended_us INTEGER
) STRICT;
CREATE INDEX transcription_by_recording ON transcription (recording_id);
CREATE INDEX transcription_waiting ON transcription (created_us) WHERE status = 'waiting';
