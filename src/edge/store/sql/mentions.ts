/** Records that mention a telephone number in texts and JSON: search and erasure. */
import type { AccountId } from '../../../base/ids.ts';
import type {
  Mention,
  MentionKey,
  MentionPlace,
  MentionStore,
} from '../../../domain/privacy/needs.ts';
import { eraserOf, type SearchedNumber, TEXT_SEPARATORS } from '../../../domain/privacy/privacy.ts';
import { type Connection, type Row, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { openResponse } from './accounts.ts';

interface Place {
  /** Columns of an index that orders the table, each with a value below all others. */
  readonly key: Readonly<Record<string, '' | -1>>;
  readonly columns: readonly string[];
  /** Whether the table has the column account_id. */
  readonly hasAccount?: true;
  /** Decrypts a column. The database cannot search such a column, so that all records of the table are read. */
  readonly open?: (db: Connection, row: Row, column: string) => string;
  /** Whether erasure deletes the record instead of replacing the number. */
  readonly isDeleted?: true;
}

const PLACES: Readonly<Record<MentionPlace, Place>> = {
  webhook_delivery: {
    key: { id: '' },
    columns: ['url', 'signed_string', 'error', 'request', 'request_body', 'response_body'],
    hasAccount: true,
    isDeleted: true,
  },
  notification: { key: { id: '' }, columns: ['target', 'parameters', 'json'], hasAccount: true },
  idempotency_key: {
    key: { account_id: '', key: '' },
    columns: ['key', 'response'],
    hasAccount: true,
    open: openKeyColumn,
    isDeleted: true,
  },
  audit: { key: { id: -1 }, columns: ['path', 'detail'], hasAccount: true },
  export_job: { key: { export_id: '' }, columns: ['filter', 'error'], hasAccount: true },
  campaign_bad_row: { key: { list: -1, row_number: -1 }, columns: ['reason'] },
  campaign_contact: { key: { id: -1 }, columns: ['answer_url', 'hangup_url', 'headers'] },
  unreadable_row: {
    key: { table_name: '', row_key: '' },
    columns: ['row_key', 'original', 'reason'],
    isDeleted: true,
  },
  cdr: {
    key: { number: -1 },
    columns: [
      ...['from_number', 'to_number', 'caller_name', 'terminated_to'],
      ...['failure_reason', 'streams'],
    ],
    hasAccount: true,
  },
  call_timeline: { key: { number: -1 }, columns: ['lines'] },
  recording: { key: { recording_id: '' }, columns: ['conference_name'], hasAccount: true },
  transcription: { key: { transcription_id: '' }, columns: ['text', 'subject'], hasAccount: true },
  entry: { key: { account_id: '', seq: -1 }, columns: ['description'], hasAccount: true },
};

/** Records that one search reads, so that it takes a limited time. */
const STEP = 5000;
/** Trailing digits that all forms of a number have in common. */
const TAIL = 7;

/** The text of a column without the separators of numbers. */
const joined = (column: string): string =>
  TEXT_SEPARATORS.reduce((sql, separator) => `replace(${sql}, '${separator}', '')`, column);

const placeholders = (key: MentionKey): string => key.map(() => '?').join(', ');

export const mentionRepository = (db: Connection): Synchronously<MentionStore> => {
  /** Returns the key of the last record of a step, or undefined if the step is the last one. */
  const lastKey = (place: MentionPlace, after: MentionKey): MentionKey | undefined => {
    const names = Object.keys(PLACES[place].key);
    const row = db.get(
      `SELECT ${names.join(', ')} FROM ${place} WHERE (${names.join(', ')}) > (${placeholders(after)})
        ORDER BY ${names.join(', ')} LIMIT 1 OFFSET ?`,
      [...after, STEP - 1],
    );
    return row && keyOf(place, row);
  };

  const selected = (place: MentionPlace): string => {
    const { key, columns, hasAccount } = PLACES[place];
    const names = [...Object.keys(key), ...columns, ...(hasAccount ? ['account_id'] : [])];
    return `SELECT ${[...new Set(names)].join(', ')} FROM ${place}`;
  };

  return {
    list: (number, place, after = Object.values(PLACES[place].key)) => {
      const { key, columns, open } = PLACES[place];
      const names = Object.keys(key).join(', ');
      const next = lastKey(place, after);
      const searched = open === undefined ? columns : [];
      const tests = searched.map((column) => `${joined(column)} LIKE ?`).join(' OR ');
      const pattern = `%${number.digits.slice(-TAIL)}%`;
      const rows = db.all(
        `${selected(place)} WHERE (${names}) > (${placeholders(after)})
          ${next === undefined ? '' : `AND (${names}) <= (${placeholders(next)})`}
          ${tests === '' ? '' : `AND (${tests})`} ORDER BY ${names}`,
        [...after, ...(next ?? []), ...searched.map(() => pattern)],
      );
      const mentions = rows.flatMap((row): Mention[] => {
        const { texts, changed, accountId } = examined(db, { number, place, row });
        if (Object.keys(changed).length === 0) return [];
        return [{ place, key: keyOf(place, row), accountId, texts }];
      });
      return { mentions, next };
    },
    erase: (number, place, keys) => {
      const { key, isDeleted } = PLACES[place];
      const at = `WHERE ${Object.keys(key)
        .map((name) => `${name} = ?`)
        .join(' AND ')}`;
      for (const values of keys) {
        const row = db.get(`${selected(place)} ${at}`, values);
        const { changed } = examined(db, { number, place, row: row ?? {} });
        const columns = Object.keys(changed);
        if (columns.length === 0) continue;
        if (isDeleted) db.send(`DELETE FROM ${place} ${at}`, values);
        else {
          const sets = columns.map((column) => `${column} = ?`).join(', ');
          db.send(`UPDATE ${place} SET ${sets} ${at}`, [...Object.values(changed), ...values]);
        }
      }
    },
  };
};

const keyOf = (place: MentionPlace, row: Row): MentionKey =>
  Object.entries(PLACES[place].key).map(([name, lowest]) =>
    lowest === '' ? string(row, name) : Number(row[name]),
  );

interface Examined {
  readonly texts: Readonly<Record<string, string>>;
  /** Texts without the number, by column. Empty if no text contains it. */
  readonly changed: Readonly<Record<string, string>>;
  readonly accountId: AccountId | undefined;
}

function examined(
  db: Connection,
  {
    number,
    place,
    row,
  }: { readonly number: SearchedNumber; readonly place: MentionPlace; readonly row: Row },
): Examined {
  const { columns, open } = PLACES[place];
  const texts: Record<string, string> = {};
  const changed: Record<string, string> = {};
  const accountId = (row['account_id'] ?? undefined) as AccountId | undefined;
  const { nationalAccounts } = number;
  const isNational =
    accountId === undefined ? nationalAccounts.length > 0 : nationalAccounts.includes(accountId);
  const erase = eraserOf(number, isNational);
  for (const column of columns) {
    if (row[column] === null || row[column] === undefined) continue;
    texts[column] = open === undefined ? string(row, column) : open(db, row, column);
    const shown = erase(texts[column]);
    if (shown !== texts[column]) changed[column] = shown;
  }
  return { texts, changed, accountId };
}

/** Returns the stored text of a response that is encrypted with an earlier key, because no key can open it. */
function openKeyColumn(db: Connection, row: Row, column: string): string {
  const stored = string(row, column);
  if (column !== 'response') return stored;
  try {
    return openResponse(db, string(row, 'account_id'), string(row, 'key'), stored);
  } catch {
    return stored;
  }
}
