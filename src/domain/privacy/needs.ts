/** What the search for personal data requires from the store. */

/** Records that can mention a number in texts, in the order of an export. */
export const MENTION_PLACES = [
  'webhook_delivery',
  'notification',
  'idempotency_key',
  'audit',
  'export_job',
  'campaign_bad_row',
  'unreadable_row',
  'cdr_streams',
] as const;

export type MentionPlace = (typeof MENTION_PLACES)[number];

/** A record with its texts, by column. */
export interface Mention {
  readonly place: MentionPlace;
  readonly texts: Readonly<Record<string, string>>;
}

/** Candidates contain the number as part of a text, also within a longer number. */
interface MentionSlice {
  readonly limit: number;
  /** Number of candidates to skip. */
  readonly offset: number;
}

export interface MentionStore {
  /** Returns the records of the slice that mention the number, and the number of its candidates. */
  list(
    number: string,
    place: MentionPlace,
    slice: MentionSlice,
  ): Promise<{ readonly mentions: readonly Mention[]; readonly candidates: number }>;
  /** Replaces the number by ERASED, or deletes the records of logs. Returns the numbers of erased records and candidates. */
  erase(
    number: string,
    place: MentionPlace,
    slice: MentionSlice,
  ): Promise<{ readonly erased: number; readonly candidates: number }>;
}
