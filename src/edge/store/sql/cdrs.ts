import { DAY_MS, SECOND_MS } from '../../../base/duration.ts';
import { asAccountId } from '../../../base/ids.ts';
import { micros } from '../../../base/money.ts';
import { plainFilter } from '../../../base/phone-number.ts';
import type { CallLogStore, CdrStore, RetentionStore } from '../../../domain/cdr/needs.ts';
import { type Cdr, type CdrFilter, type CdrRecord, ERASED } from '../../../domain/cdr/types.ts';
import { type Connection, integer, type Row, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import {
  converted,
  int,
  optional,
  optionalFlag,
  optionalInt,
  optionalText,
  seconds,
  stored,
  Table,
  text,
} from '../table.ts';
import { pastUnreadable, readingRow } from '../unreadable.ts';
import { Where } from '../where.ts';
import { searchRepository } from './cdr-search.ts';
import { QUALITY } from './stored-quality.ts';
import { finishedStream, STREAMS, storedStream } from './stored-stream.ts';
import { TIMELINE } from './stored-timeline.ts';

const cdrTable = new Table<Cdr & { readonly createdUs: number }>('cdr', {
  callUuid: text,
  accountId: text,
  subAccount: optionalText,
  direction: text,
  context: text,
  from: text('from_number'),
  to: text('to_number'),
  callerName: text,
  requestUuid: optionalText,
  parentCallUuid: optionalText,
  bridgeUuid: optionalText,
  startUs: int,
  ringUs: optionalInt,
  answerUs: optionalInt,
  endUs: int,
  billedMs: seconds('billed_seconds'),
  perMinute: int,
  cost: int,
  streamingCost: int,
  currency: text,
  hangupCause: text,
  hangupCauseCode: int,
  hangupCauseName: text,
  hangupSource: text,
  hangupDisposition: text,
  failureReason: optionalText,
  sipCallId: optionalText,
  sipUserAgent: optionalText,
  remoteAddress: optionalText,
  carrier: optionalText,
  codec: optionalText,
  quality: optional(stored('quality', QUALITY)),
  endpointId: optionalText,
  trunkId: optionalText,
  terminatedTo: optionalText,
  campaignId: optionalText,
  machine: optionalFlag,
  stirVerification: optionalText,
  stirAttestation: optionalText,
  consent: optionalText,
  consentUs: optionalInt,
  streams: converted(
    stored('streams', STREAMS),
    (streams: Cdr['streams']) => streams.map(storedStream),
    (streams) => streams.map(finishedStream),
  ),
  createdUs: int,
});

/** Inserts a record; returns false if the call already has one. */
export const insertCdr = (db: Connection, cdr: Cdr): boolean =>
  cdrTable.insertNewLater(db, `cdr ${cdr.callUuid}`, { ...cdr, createdUs: db.nowUs });

const readRecord = (db: Connection, row: Row): CdrRecord => {
  const { createdUs, ...cdr } = cdrTable.read(db, row);
  return { number: integer(row, 'number'), createdUs, cdr };
};

export const cdrRepository = (db: Connection): Synchronously<CdrStore> => ({
  get: (callUuid) => {
    const row = db.get('SELECT * FROM cdr WHERE call_uuid = ?', [callUuid]);
    return row && readRecord(db, row);
  },
  page: (filter, slice) => {
    const where = cdrWhere(filter);
    const rows = db.all(
      `SELECT * FROM cdr WHERE ${where.sql} ORDER BY number DESC LIMIT ? OFFSET ?`,
      [...where.values, slice.limit, slice.offset],
    );
    const count = db.get(`SELECT COUNT(*) AS n FROM cdr WHERE ${where.sql}`, where.values);
    const items = db.readable(rows, (row) => readRecord(db, row));
    return { items, total: integer(count, 'n') };
  },
  walk: (filter, before, limit) => {
    return pastUnreadable(limit, before, (from) => {
      const where = cdrWhere(filter).and('number < ?', from);
      const rows = db.all(`SELECT * FROM cdr WHERE ${where.sql} ORDER BY number DESC LIMIT ?`, [
        ...where.values,
        limit,
      ]);
      const next = integer(rows.at(-1), 'number');
      return { rows: rows.length, items: db.readable(rows, (row) => readRecord(db, row)), next };
    });
  },
  ...searchRepository(db, readRecord, cdrWhere),
  ...sums(db),
});

/** Sums over the records that match a filter. */
const sums = (db: Connection) =>
  ({
    summary: (filter) => {
      const where = cdrWhere(filter);
      const sums = db.get(
        `SELECT COUNT(*) AS calls, COUNT(answer_us) AS answered, SUM(end_us - start_us) AS duration,
          SUM(end_us - answer_us) AS talk, SUM(billed_seconds) AS billed,
          SUM(cost + streaming_cost) AS cost, MAX(start_us) AS last
        FROM cdr WHERE ${where.sql}`,
        where.values,
      );
      return {
        totalCalls: integer(sums, 'calls'),
        answeredCalls: integer(sums, 'answered'),
        totalDurationUs: integer(sums, 'duration'),
        totalAnsweredUs: integer(sums, 'talk'),
        totalBilledMs: integer(sums, 'billed') * SECOND_MS,
        totalCost: micros(integer(sums, 'cost')),
        lastCallUs: sums?.['last'] == null ? undefined : integer(sums, 'last'),
      };
    },
    daily: (filter) => {
      const where = cdrWhere(filter);
      const rows = db.all(
        `SELECT start_us / ${DAY_MS * 1000} AS day, direction, COUNT(*) AS calls,
          COUNT(answer_us) AS answered, SUM(COALESCE(end_us - answer_us, 0)) AS talk,
          SUM(billed_seconds) AS billed
        FROM cdr WHERE ${where.sql} GROUP BY day, direction ORDER BY day, direction`,
        where.values,
      );
      return rows.map((row) => ({
        day: integer(row, 'day'),
        direction: string(row, 'direction') as Cdr['direction'],
        calls: integer(row, 'calls'),
        answered: integer(row, 'answered'),
        talkUs: integer(row, 'talk'),
        billedMs: integer(row, 'billed') * SECOND_MS,
      }));
    },
  }) satisfies Partial<Synchronously<CdrStore>>;

/** SQL for the answered time, equal to `answeredTimeMs` (base/money.ts), so that a filter matches the displayed value. */
const ANSWERED_MS =
  'CASE WHEN answer_us IS NULL THEN 0 WHEN end_us - answer_us < 1500000 THEN 1000 ELSE (end_us - answer_us + 500000) / 1000000 * 1000 END';

/** A member of the stored quality that exists only after one-way audio. */
const ONE_WAY = '%"unheardMs":%';

function cdrWhere(filter: CdrFilter): Where {
  return new Where()
    .and('account_id = ?', filter.accountId)
    .and('sub_account = ?', filter.subAccount)
    .and('from_number = ?', plainFilter(filter.fromNumber))
    .and('to_number = ?', plainFilter(filter.toNumber))
    .and('start_us >= ?', filter.startFromUs)
    .and('start_us <= ?', filter.startToUs)
    .and('end_us >= ?', filter.endFromUs)
    .and('end_us <= ?', filter.endToUs)
    .and(`${ANSWERED_MS} >= ?`, filter.answeredFromMs)
    .and(`${ANSWERED_MS} <= ?`, filter.answeredToMs)
    .and('direction = ?', filter.direction)
    .and(`${ANSWERED_MS} >= ?`, filter.minAnsweredMs)
    .and('sip_call_id = ?', filter.sipCallId)
    .and('bridge_uuid = ?', filter.bridgeUuid)
    .and('parent_call_uuid = ?', filter.parentCallUuid)
    .and('hangup_cause = ?', filter.hangupCause)
    .and('hangup_cause_code = ?', filter.hangupCauseCode)
    .and('hangup_source = ?', filter.hangupSource)
    .and('hangup_disposition = ?', filter.hangupDisposition)
    .and('context = ?', filter.context)
    .and('campaign_id = ?', filter.campaignId)
    .and('trunk_id = ?', filter.trunkId)
    .and('cost + streaming_cost >= ?', filter.costFrom)
    .and('cost + streaming_cost <= ?', filter.costTo)
    .and('quality LIKE ?', filter.oneWayAudio && ONE_WAY)
    .contains(['from_number', 'to_number', 'call_uuid', 'caller_name'], filter.search);
}

export const callLogRepository = (db: Connection): Synchronously<CallLogStore> => ({
  put: (callUuid, lines) => {
    db.send(
      `INSERT INTO call_timeline (number, ended_us, lines)
        SELECT number, end_us, ? FROM cdr WHERE call_uuid = ? ON CONFLICT DO NOTHING`,
      [TIMELINE.write(lines), callUuid],
    );
  },
  read: (callUuid) => {
    const row = db.get(
      'SELECT number, account_id, lines FROM call_timeline NATURAL JOIN cdr WHERE call_uuid = ?',
      [callUuid],
    );
    if (row === undefined) return undefined;
    return {
      accountId: asAccountId(string(row, 'account_id')),
      lines: readingRow('call_timeline', 'number', row, () => TIMELINE.read(string(row, 'lines'))),
    };
  },
});

const DAY_US = DAY_MS * 1000;

export const retentionRepository = (db: Connection): Synchronously<RetentionStore> => ({
  purgeCalls: (nowUs, defaultMs, limit) => {
    const expired = db.all(
      // CROSS JOIN forces the account as the outer loop. In the other order SQLite would read every record.
      `SELECT c.number FROM account a
        CROSS JOIN cdr c WHERE c.account_id = a.auth_id
          AND c.end_us < @now - COALESCE(a.cdr_retention_days * ${DAY_US}, @defaultUs)
        LIMIT @limit`,
      { now: nowUs, defaultUs: defaultMs * 1000, limit },
    );
    for (const row of expired) {
      db.send('DELETE FROM cdr WHERE number = ?', [integer(row, 'number')]); // its timeline goes with it
    }
    return expired.length;
  },
  eraseCalls: (number, calls, related) => {
    for (const callUuid of [...calls, ...related]) {
      db.send(
        'DELETE FROM call_timeline WHERE number = (SELECT number FROM cdr WHERE call_uuid = ?)',
        [callUuid],
      );
      db.send('UPDATE cdr SET terminated_to = NULL WHERE call_uuid = ? AND terminated_to = ?', [
        callUuid,
        number,
      ]);
    }
    for (const callUuid of calls) {
      db.send(
        `UPDATE cdr SET caller_name = CASE WHEN from_number = @number THEN '' ELSE caller_name END,
            from_number = CASE WHEN from_number = @number THEN @erased ELSE from_number END,
            to_number = CASE WHEN to_number = @number THEN @erased ELSE to_number END,
            sip_call_id = NULL, sip_user_agent = NULL, remote_address = NULL, failure_reason = NULL
          WHERE call_uuid = @callUuid`,
        { number, erased: ERASED, callUuid },
      );
      // The description of a charge is "Call … from A to B, 30 s".
      db.send(
        `UPDATE entry SET description = REPLACE(REPLACE(description, ?, ?), ?, ?)
          WHERE account_id = (SELECT account_id FROM cdr WHERE call_uuid = ?) AND reference = ?`,
        [` ${number} `, ` ${ERASED} `, ` ${number},`, ` ${ERASED},`, callUuid, `cdr:${callUuid}`],
      );
      // Recordings without a file; the others are deleted with their files.
      db.send(`DELETE FROM recording WHERE call_uuid = ? AND status = 'failed'`, [callUuid]);
    }
  },
  // Deletes the oldest records first, approximately in the order of their ends.
  purgeLogs: (nowUs, retentionMs, limit) =>
    db.run(
      `DELETE FROM call_timeline WHERE number IN
        (SELECT number FROM (SELECT number, ended_us FROM call_timeline ORDER BY number LIMIT ?)
          AS oldest WHERE ended_us < ?)`,
      [limit, nowUs - retentionMs * 1000],
    ),
});
