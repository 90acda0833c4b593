import { assert, ServiceError } from '../../../base/errors.ts';
import type { Micros } from '../../../base/money.ts';
import { err, type Result } from '../../../base/result.ts';
import type { CallStore, OpenCall } from '../../../domain/cdr/needs.ts';
import { speechHold } from '../../../domain/ledger/ledger.ts';
import type { ReserveRefusal } from '../../../domain/ledger/types.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { openCredentials, sealCredentials } from '../sealed-text.ts';
import { readingRow } from '../unreadable.ts';
import { insertCdr } from './cdrs.ts';
import { extendHold, hold, postCharges, releaseHold } from './ledger.ts';
import { ORPHANED } from './nodes.ts';
import { addNotification } from './notifications.ts';
import { OPEN_CALL, openCall, storedCall } from './stored-call.ts';

export const callRepository = (db: Connection): Synchronously<CallStore> => ({
  open: (...given) => open(db, ...given),
  openAhead: (call, dailySpendLimit) => open(db, call, dailySpendLimit),
  extendReservation: (callUuid, reserved) => {
    const raised = extendHold(db, callUuid, reserved);
    if (!raised.ok) return err(raised.error);
    return raised;
  },
  update: (call) => {
    const { callUuid } = call.cdr;
    // Replaces only an open record, so that a settled call cannot become open again.
    const isReplaced = db.changesOne(
      'UPDATE open_call SET heartbeat_us = ?, record = ? WHERE call_uuid = ?',
      [call.heartbeatUs, recordOf(db, call), callUuid],
    );
    assert(isReplaced || isSettled(db, callUuid), 'the store has no record of the call');
  },
  heartbeat: (beats) => {
    for (const { callUuid, atUs } of beats)
      db.sendLater(rowOf(callUuid), 'UPDATE open_call SET heartbeat_us = ? WHERE call_uuid = ?', [
        atUs,
        callUuid,
      ]);
  },
  settle: ({ cdr, entries, notification, isInterrupted = false }) => {
    const { callUuid } = cdr;
    db.sendLater(rowOf(callUuid), 'DELETE FROM open_call WHERE call_uuid = ?', [callUuid]);
    releaseHold(db, callUuid);
    if (isInterrupted) releaseSpeech(db, callUuid);
    if (!insertCdr(db, cdr)) return false;
    postCharges(db, entries);
    if (notification !== undefined) addNotification(db, notification);
    return true;
  },
  discard: ({ cdr: { callUuid } }) => {
    db.send('DELETE FROM open_call WHERE call_uuid = ?', [callUuid]);
    releaseHold(db, callUuid);
  },
  listOpen: (which = 'all') =>
    db.readable(
      db.all(
        `SELECT o.call_uuid, o.record, o.heartbeat_us, COALESCE(r.amount, 0) AS reserved FROM open_call o
          LEFT JOIN reservation r ON r.id = o.call_uuid
          ${which === 'orphaned' ? `WHERE ${ORPHANED}` : ''} ORDER BY o.call_uuid`,
      ),
      (row) => ({
        ...readingRow('open_call', 'call_uuid', row, () => readOpen(db, string(row, 'record'))),
        heartbeatUs: integer(row, 'heartbeat_us'),
        reserved: integer(row, 'reserved') as Micros,
      }),
    ),
});

/** Releases the reservations that an interrupted call held for speech recognition it did not use. */
export function releaseSpeech(db: Connection, callUuid: string): void {
  const [from, to] = [speechHold(callUuid, ''), speechHold(callUuid, '~')];
  for (const row of db.all('SELECT id FROM reservation WHERE id >= ? AND id < ?', [from, to]))
    releaseHold(db, string(row, 'id'));
}

const isSettled = (db: Connection, callUuid: string): boolean =>
  db.get('SELECT 1 AS found FROM cdr WHERE call_uuid = ?', [callUuid]) !== undefined;

function open(
  db: Connection,
  call: OpenCall,
  dailySpendLimit: Micros | undefined,
  waiting: readonly OpenCall[] = [],
): Result<void, ReserveRefusal> {
  const { callUuid, accountId, currency } = call.cdr;
  const amount = call.reserved;
  const held = hold(db, { reservationId: callUuid, accountId, currency, amount, dailySpendLimit });
  if (held.ok) for (const one of [call, ...waiting]) saveOpen(db, one);
  return held;
}

const rowOf = (callUuid: string): string => `open call ${callUuid}`;

/**
 * Stores an open record. A spooled record may exist already. A node that was declared dead but has not noticed cannot open
 * calls, because other nodes have adopted its rows.
 */
function saveOpen(db: Connection, call: OpenCall): void {
  const isSaved = db.changesOne(
    `INSERT INTO open_call (call_uuid, account_id, heartbeat_us, record, node_id, epoch)
      SELECT @callUuid, @accountId, CAST(@heartbeatUs AS BIGINT), @record, @node, CAST(@epoch AS BIGINT)
        WHERE @node = '' OR EXISTS (SELECT 1 FROM node WHERE node_id = @node AND epoch = @epoch)
      ON CONFLICT (call_uuid)
      DO UPDATE SET heartbeat_us = excluded.heartbeat_us, record = excluded.record`,
    {
      callUuid: call.cdr.callUuid,
      accountId: call.cdr.accountId,
      heartbeatUs: call.heartbeatUs,
      record: recordOf(db, call),
      node: db.node.id,
      epoch: db.node.epoch,
    },
  );
  if (!isSaved) throw new ServiceError('STORE_BUSY', 'this node was declared dead');
}

/** Encrypts the credentials that the customer wrote into the notification URL. */
const recordOf = (db: Connection, call: OpenCall): string =>
  sealCredentials(OPEN_CALL.write(storedCall(call)), db.vault);

/** JSON omits undefined fields; readers treat absent and undefined alike. */
const readOpen = (db: Connection, record: string): OpenCall =>
  openCall(OPEN_CALL.read(openCredentials(record, db.vault)));
