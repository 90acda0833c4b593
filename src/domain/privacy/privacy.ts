/** Personal data of one telephone number in the records of all accounts: search, export and erasure. */
import type { AccountId, CallUuid } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { AccountStore } from '../account/needs.ts';
import type { CampaignStore, FoundContact } from '../campaign/needs.ts';
import type { DoNotCallScope } from '../campaign/types.ts';
import type { CallLogStore, CallStore, CdrStore, RetentionStore } from '../cdr/needs.ts';
import type { Cdr, CdrFilter, CdrRecord } from '../cdr/types.ts';
import type { Recordings } from '../recording/recording.ts';
import type { Recording, RecordingFilter } from '../recording/types.ts';
import type { TranscriptionStore } from '../transcription/needs.ts';
import type { Transcription } from '../transcription/types.ts';
import { MENTION_PLACES, type Mention, type MentionPlace, type MentionStore } from './needs.ts';

/** Number of records per query. */
const BATCH = 200;

export interface PersonalDataDeps {
  readonly accounts: Pick<AccountStore, 'list'>;
  readonly calls: Pick<CallStore, 'listOpen'>;
  readonly cdrs: Pick<CdrStore, 'walk'>;
  readonly callLogs: Pick<CallLogStore, 'read'>;
  readonly retention: Pick<RetentionStore, 'eraseCalls'>;
  readonly transcriptions: Pick<TranscriptionStore, 'ofRecording'>;
  readonly campaigns: Pick<CampaignStore, 'contactsOf' | 'eraseContacts' | 'doNotCall'>;
  readonly recordings: Pick<Recordings, 'walk' | 'remove'>;
  readonly mentions: MentionStore;
}

/** Numbers of records that contain the number. */
export interface PersonalDataCounts {
  readonly calls: number;
  readonly recordings: number;
  readonly contacts: number;
  /** Requests to customers, audit entries and other records with the number in a text. */
  readonly mentions: number;
}

export interface PersonalDataFound extends PersonalDataCounts {
  readonly transcriptions: number;
  /** Calls that are running or queued. */
  readonly runningCalls: number;
  /** Number of do-not-call lists that contain the number. Erasure keeps these entries. */
  readonly doNotCallLists: number;
}

/** One item of an export. */
export type PersonalDataItem =
  | {
      readonly kind: 'call';
      readonly record: CdrRecord;
      /** Timeline, with transcripts of agents. Undefined if it is not kept. */
      readonly timeline: Awaited<ReturnType<CallLogStore['read']>>;
    }
  | {
      readonly kind: 'recording';
      readonly recording: Recording;
      readonly transcriptions: readonly Transcription[];
    }
  | { readonly kind: 'contact'; readonly contact: FoundContact }
  | { readonly kind: 'mention'; readonly mention: Mention };

export type PersonalDataRefusal = { readonly kind: 'callRunning' };

const SIDES = ['fromNumber', 'toNumber'] as const;

export class PersonalData {
  readonly #deps: PersonalDataDeps;

  constructor(deps: PersonalDataDeps) {
    this.#deps = deps;
  }

  /** Counts the records of a number (digits). */
  async find(number: string): Promise<PersonalDataFound> {
    const counts = { calls: 0, recordings: 0, contacts: 0, mentions: 0, transcriptions: 0 };
    for await (const item of this.export(number)) {
      counts[`${item.kind}s`] += 1;
      if (item.kind === 'recording') counts.transcriptions += item.transcriptions.length;
    }
    let doNotCallLists = 0;
    for await (const scope of this.#scopes())
      if (await this.#isListed(scope, number)) doNotCallLists += 1;
    return { ...counts, doNotCallLists, runningCalls: await this.#runningCalls(number) };
  }

  /** Yields all records of a number: calls, recordings, contacts of campaigns, then mentions. Bounded memory per call. */
  async *export(number: string): AsyncGenerator<PersonalDataItem> {
    for await (const record of this.#calls(number)) {
      const timeline = await this.#deps.callLogs.read(record.cdr.callUuid);
      yield { kind: 'call', record, timeline };
    }
    for await (const recording of this.#recordings(number)) {
      const { recordingId } = recording;
      const transcriptions = await this.#deps.transcriptions.ofRecording(recordingId);
      yield { kind: 'recording', recording, transcriptions };
    }
    let after = 0;
    for (;;) {
      const contacts = await this.#deps.campaigns.contactsOf(number, after, BATCH);
      for (const contact of contacts) yield { kind: 'contact', contact };
      after = contacts.at(-1)?.contact.id ?? after;
      if (contacts.length < BATCH) break;
    }
    for (const place of MENTION_PLACES) yield* this.#mentions(number, place);
  }

  async *#mentions(number: string, place: MentionPlace): AsyncGenerator<PersonalDataItem> {
    for (let offset = 0; ; offset += BATCH) {
      const slice = { limit: BATCH, offset };
      const { mentions, candidates } = await this.#deps.mentions.list(number, place, slice);
      for (const mention of mentions) yield { kind: 'mention', mention };
      if (candidates < BATCH) return;
    }
  }

  /**
   * Erases the number from all records. Call records keep their times and amounts. Recordings of its calls, their
   * transcriptions, the timelines of its calls and stored webhook deliveries are deleted. Contacts are no longer called.
   */
  async erase(number: string): Promise<Result<PersonalDataCounts, PersonalDataRefusal>> {
    if ((await this.#runningCalls(number)) > 0) return err({ kind: 'callRunning' });
    const recordings = await this.#eraseRecordings(number);
    let calls = 0;
    for await (const accountId of this.#accounts())
      for (const side of SIDES)
        calls += await this.#eraseCalls(number, { accountId, [side]: number });
    let contacts = 0;
    for (;;) {
      const erased = await this.#deps.campaigns.eraseContacts(number, BATCH);
      contacts += erased;
      if (erased < BATCH) break;
    }
    let mentions = 0;
    for (const place of MENTION_PLACES) mentions += await this.#eraseMentions(number, place);
    return ok({ calls, recordings, contacts, mentions });
  }

  /** Erases in batches. The next batch skips the candidates that remain. */
  async #eraseMentions(number: string, place: MentionPlace): Promise<number> {
    let total = 0;
    for (let offset = 0; ; ) {
      const slice = { limit: BATCH, offset };
      const { erased, candidates } = await this.#deps.mentions.erase(number, place, slice);
      total += erased;
      offset += candidates - erased;
      if (candidates < BATCH) return total;
    }
  }

  /** Erases calls in batches. Erased records no longer match the filter. */
  async #eraseCalls(number: string, filter: CdrFilter): Promise<number> {
    let erased = 0;
    for (;;) {
      const batch = await this.#deps.cdrs.walk(filter, undefined, BATCH);
      if (batch.length === 0) return erased;
      const related = batch.flatMap(({ cdr }) => legsOf(cdr).slice(1));
      await this.#deps.retention.eraseCalls(
        number,
        batch.map(({ cdr }) => cdr.callUuid),
        related,
      );
      erased += batch.length;
      if (batch.length < BATCH) return erased;
    }
  }

  async #eraseRecordings(number: string): Promise<number> {
    const { recordings } = this.#deps;
    let erased = 0;
    for await (const { accountId, recordingId } of this.#recordings(number))
      if ((await recordings.remove(accountId, recordingId)).ok) erased += 1;
    return erased;
  }

  async *#calls(number: string): AsyncGenerator<CdrRecord> {
    for await (const accountId of this.#accounts()) {
      for (const side of SIDES) {
        let before: number | undefined;
        for (;;) {
          const batch = await this.#deps.cdrs.walk({ accountId, [side]: number }, before, BATCH);
          // A call from a number to itself matches both filters.
          for (const record of batch)
            if (side === 'fromNumber' || record.cdr.from !== number) yield record;
          before = batch.at(-1)?.number;
          if (batch.length < BATCH) break;
        }
      }
    }
  }

  /** Recordings in which the number takes part: its own, and those of the legs that were connected to it. */
  async *#recordings(number: string): AsyncGenerator<Recording> {
    const seen = new Set<string>();
    for await (const filter of this.#recordingFilters(number)) {
      for await (const recording of this.#deps.recordings.walk(filter)) {
        if (seen.has(recording.recordingId)) continue;
        seen.add(recording.recordingId);
        yield recording;
      }
    }
  }

  async *#recordingFilters(number: string): AsyncGenerator<RecordingFilter> {
    for await (const accountId of this.#accounts())
      for (const side of SIDES) yield { accountId, [side]: number };
    for await (const { cdr } of this.#calls(number))
      for (const callUuid of legsOf(cdr)) yield { accountId: cdr.accountId, callUuid };
  }

  async *#accounts(): AsyncGenerator<AccountId> {
    for (let offset = 0; ; offset += BATCH) {
      const { items } = await this.#deps.accounts.list(
        { parentAuthId: undefined },
        { limit: BATCH, offset },
      );
      for (const { authId } of items) yield authId;
      if (items.length < BATCH) return;
    }
  }

  async *#scopes(): AsyncGenerator<AccountId | 'operator'> {
    yield 'operator';
    yield* this.#accounts();
  }

  async #isListed(scope: DoNotCallScope, number: string): Promise<boolean> {
    const slice = { limit: BATCH, offset: 0 };
    const { items } = await this.#deps.campaigns.doNotCall(scope, number, slice);
    return items.some((one) => one.number === number);
  }

  async #runningCalls(number: string): Promise<number> {
    const open = await this.#deps.calls.listOpen();
    return open.filter(({ cdr }) => cdr.from === number || cdr.to === number).length;
  }
}

/** The leg, and the legs that were connected to it. */
const legsOf = ({ callUuid, parentCallUuid, bridgeUuid }: Cdr): readonly CallUuid[] =>
  [callUuid, parentCallUuid, bridgeUuid].filter((uuid) => uuid !== undefined);
