import type { TranscriptionStore } from '../../../domain/transcription/needs.ts';
import type { Transcription } from '../../../domain/transcription/types.ts';
import type { Connection } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import { int, optional, optionalInt, optionalText, stored, Table, text } from '../table.ts';
import { ORPHANED } from './nodes.ts';
import { notificationTable } from './notifications.ts';
import { TARGET } from './stored-callback.ts';

const transcriptionTable = new Table<Transcription>(
  'transcription',
  {
    transcriptionId: text,
    recordingId: text,
    accountId: text,
    subAccount: optionalText,
    callUuid: optionalText,
    subject: text,
    language: text,
    currency: text,
    target: optional(withCredentials(stored('target', TARGET))),
    status: text,
    text: text,
    error: optionalText,
    durationMs: int,
    charge: int,
    perMinute: int,
    createdUs: int,
    endedUs: optionalInt,
  },
  'of a node',
);

export const transcriptionRepository = (db: Connection): Synchronously<TranscriptionStore> => ({
  insert: (transcription) => transcriptionTable.insert(db, transcription),
  finish: (transcriptionId, end, notification) => {
    const finished = transcriptionTable.patch(
      db,
      end,
      "transcription_id = @id AND status = 'waiting'",
      { id: transcriptionId },
    );
    if (finished !== undefined && notification !== undefined) {
      notificationTable.insertNew(db, notification);
    }
    return finished;
  },
  get: (transcriptionId) => transcriptionTable.get(db, 'transcription_id = ?', [transcriptionId]),
  ofRecording: (recordingId) =>
    transcriptionTable.all(db, 'WHERE recording_id = ? ORDER BY created_us DESC', [recordingId]),
  adopt: () =>
    [
      ...transcriptionTable.readAll(
        db,
        db.all(
          `UPDATE transcription SET node_id = @id, epoch = @epoch
          WHERE status = 'waiting' AND ${ORPHANED} AND node_id IN ('', @id) RETURNING *`,
          { id: db.node.id, epoch: db.node.epoch },
        ),
      ),
    ].sort((a, b) => a.createdUs - b.createdUs),
});
