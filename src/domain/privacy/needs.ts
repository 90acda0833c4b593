/** What the search for personal data requires from the store. */
import type { AccountId } from '../../base/ids.ts';
import type { SearchedNumber } from './person-number.ts';

/** Records that can mention a number in texts, in the order of an export. */
export const MENTION_PLACES = [
  'webhook_delivery',
  'notification',
  'idempotency_key',
  'audit',
  'export_job',
  'campaign_bad_row',
  'campaign_contact',
  'unreadable_row',
  'cdr',
  'call_timeline',
  'recording',
  'transcription',
  'entry',
] as const;

export type MentionPlace = (typeof MENTION_PLACES)[number];

/** Values of the key of a record. Also the position of a search: records up to this key were searched. */
export type MentionKey = readonly (string | number)[];

/** A record with its texts, by column. */
export interface Mention {
  readonly place: MentionPlace;
  readonly key: MentionKey;
  /** Account of the record. Undefined if the record has none. */
  readonly accountId: AccountId | undefined;
  readonly texts: Readonly<Record<string, string>>;
}

export interface MentionStore {
  /**
   * Searches a limited number of records after the key `after`. Returns those that mention the number, and the key to
   * continue after; undefined if no record is left.
   */
  list(
    number: SearchedNumber,
    place: MentionPlace,
    after: MentionKey | undefined,
  ): Promise<{ readonly mentions: readonly Mention[]; readonly next: MentionKey | undefined }>;
  /** Replaces the number by ERASED in these records, or deletes the records of logs. */
  erase(number: SearchedNumber, place: MentionPlace, keys: readonly MentionKey[]): Promise<void>;
}
