/** Records that mention a telephone number in texts and JSON: search and erasure. */
import { ERASED } from '../../../domain/cdr/types.ts';
import type { Mention, MentionPlace, MentionStore } from '../../../domain/privacy/needs.ts';
import { type Connection, type Row, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { Where } from '../where.ts';

interface Place {
  readonly table: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** Whether erasure deletes the record instead of replacing the number. */
  readonly isDeleted?: true;
}

const PLACES: Readonly<Record<MentionPlace, Place>> = {
  webhook_delivery: {
    table: 'webhook_delivery',
    key: ['id'],
    columns: ['url', 'signed_string', 'error', 'request', 'request_body', 'response_body'],
    isDeleted: true,
  },
  notification: { table: 'notification', key: ['id'], columns: ['target', 'parameters', 'json'] },
  idempotency_key: {
    table: 'idempotency_key',
    key: ['account_id', 'key'],
    columns: ['response'],
    isDeleted: true,
  },
  audit: { table: 'audit', key: ['id'], columns: ['path', 'detail'] },
  export_job: { table: 'export_job', key: ['export_id'], columns: ['filter'] },
  campaign_bad_row: {
    table: 'campaign_bad_row',
    key: ['list', 'row_number'],
    columns: ['reason'],
  },
  unreadable_row: {
    table: 'unreadable_row',
    key: ['table_name', 'row_key'],
    columns: ['row_key', 'original', 'reason'],
    isDeleted: true,
  },
  cdr_streams: { table: 'cdr', key: ['number'], columns: ['streams'] },
};

/** The number as a whole, also with an encoded plus sign. It may be part of a longer number or an identifier. */
const wholeNumber = (number: string): RegExp =>
  new RegExp(`(?<=^|[^0-9A-Za-z]|%2[Bb])${number}(?![0-9A-Za-z])`, 'g');

/** Replaces the number in the texts of JSON, so that its numbers and its form stay, or in plain text. */
function without(text: string, whole: RegExp): string {
  const replaced = text.replace(whole, ERASED);
  if (replaced === text) return text;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return replaced;
  }
  return typeof json === 'object' && json !== null
    ? JSON.stringify(inStrings(json, (value) => value.replace(whole, ERASED)))
    : replaced;
}

function inStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => inStrings(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, inStrings(one, change)]),
  );
}

interface Found {
  readonly row: Row;
  readonly texts: Readonly<Record<string, string>>;
  readonly changed: Readonly<Record<string, string>>;
}

export const mentionRepository = (db: Connection): Synchronously<MentionStore> => {
  const find = (
    number: string,
    place: MentionPlace,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): { readonly found: readonly Found[]; readonly candidates: number } => {
    const { table, key, columns } = PLACES[place];
    const where = new Where().contains(
      columns.map((column) => `COALESCE(${column}, '')`),
      number,
    );
    const selected = [...new Set([...key, ...columns])].join(', ');
    const rows = db.all(
      `SELECT ${selected} FROM ${table} WHERE ${where.sql} ORDER BY ${key.join(', ')} LIMIT ? OFFSET ?`,
      [...where.values, limit, offset],
    );
    const whole = wholeNumber(number);
    const found = rows.map((row) => {
      const texts: Record<string, string> = {};
      const changed: Record<string, string> = {};
      for (const column of columns) {
        if (row[column] === null) continue;
        texts[column] = string(row, column);
        const shown = without(texts[column], whole);
        if (shown !== texts[column]) changed[column] = shown;
      }
      return { row, texts, changed };
    });
    return {
      found: found.filter(({ changed }) => Object.keys(changed).length > 0),
      candidates: rows.length,
    };
  };

  const erase = ({ table, key, isDeleted }: Place, { row, changed }: Found): void => {
    const at = key.map((column) => `${column} = ?`).join(' AND ');
    const keys = key.map((column) => row[column] ?? null);
    if (isDeleted) db.send(`DELETE FROM ${table} WHERE ${at}`, keys);
    else {
      const columns = Object.keys(changed);
      const sets = columns.map((column) => `${column} = ?`).join(', ');
      db.send(`UPDATE ${table} SET ${sets} WHERE ${at}`, [...Object.values(changed), ...keys]);
    }
  };

  return {
    list: (number, place, slice) => {
      const { found, candidates } = find(number, place, slice);
      const mentions = found.map(({ texts }): Mention => ({ place, texts }));
      return { mentions, candidates };
    },
    erase: (number, place, slice) => {
      const { found, candidates } = find(number, place, slice);
      for (const one of found) erase(PLACES[place], one);
      return { erased: found.length, candidates };
    },
  };
};
