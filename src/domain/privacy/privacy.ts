/** Personal data of one telephone number in the records of all accounts: search, export and erasure. */
import type { AccountId, CallUuid } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { AccountStore } from '../account/needs.ts';
import type { Account } from '../account/types.ts';
import type { CampaignStore, FoundContact } from '../campaign/needs.ts';
import type { DoNotCallScope } from '../campaign/types.ts';
import type { CallLogStore, CallStore, CdrStore, OpenCall, RetentionStore } from '../cdr/needs.ts';
import type { Cdr, CdrFilter, CdrRecord } from '../cdr/types.ts';
import type { Recordings } from '../recording/recording.ts';
import type { Recording, RecordingFilter } from '../recording/types.ts';
import type { TranscriptionStore } from '../transcription/needs.ts';
import type { Transcription } from '../transcription/types.ts';
import { MENTION_PLACES, type Mention, type MentionPlace, type MentionStore } from './needs.ts';
import { isNumber, type PersonNumber, type SearchedNumber } from './person-number.ts';

export { eraserOf, TEXT_SEPARATORS } from './number-text.ts';
export { type PersonNumber, readPersonNumber, type SearchedNumber } from './person-number.ts';

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
  /** Removes erased data from the files of the database. */
  readonly finishErasure: () => Promise<void>;
}

/** Numbers of records that contain the number. */
export interface PersonalDataCounts {
  readonly calls: number;
  readonly recordings: number;
  readonly contacts: number;
  /** Requests to customers, audit entries, timelines of other calls and other records with the number in a text. */
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

/** A form of the number in the call records of an account: digits, with `00`, national, or a SIP address. */
interface WrittenForm {
  readonly accountId: AccountId;
  readonly written: string;
}

/** A number, and its forms in call records. */
interface Search {
  readonly number: SearchedNumber;
  readonly forms: readonly WrittenForm[];
}

export class PersonalData {
  readonly #deps: PersonalDataDeps;

  constructor(deps: PersonalDataDeps) {
    this.#deps = deps;
  }

  /** Counts the records of a number. */
  async find(number: PersonNumber): Promise<PersonalDataFound> {
    const counts = { calls: 0, recordings: 0, contacts: 0, mentions: 0, transcriptions: 0 };
    for await (const item of this.export(number)) {
      counts[`${item.kind}s`] += 1;
      if (item.kind === 'recording') counts.transcriptions += item.transcriptions.length;
    }
    let doNotCallLists = 0;
    for await (const scope of this.#scopes())
      if (await this.#isListed(scope, number.digits)) doNotCallLists += 1;
    const searched = await this.#searched(number);
    return { ...counts, doNotCallLists, runningCalls: await this.#runningCalls(searched) };
  }

  /** Yields all records of a number: calls, recordings, contacts of campaigns, then mentions. Bounded memory per call. */
  async *export(person: PersonNumber): AsyncGenerator<PersonalDataItem> {
    const search = await this.#search(person);
    for await (const record of this.#calls(search)) {
      const timeline = await this.#deps.callLogs.read(record.cdr.callUuid);
      yield { kind: 'call', record, timeline };
    }
    for await (const recording of this.#recordings(search)) {
      const { recordingId } = recording;
      const transcriptions = await this.#deps.transcriptions.ofRecording(recordingId);
      yield { kind: 'recording', recording, transcriptions };
    }
    let after = 0;
    for (;;) {
      const contacts = await this.#deps.campaigns.contactsOf(person.digits, after, BATCH);
      for (const contact of contacts) yield { kind: 'contact', contact };
      after = contacts.at(-1)?.contact.id ?? after;
      if (contacts.length < BATCH) break;
    }
    for await (const mention of this.#otherMentions(search.number))
      yield { kind: 'mention', mention };
  }

  /** Yields the mentions outside the records and timelines of the number's own calls, which have separate items. */
  async *#otherMentions(number: SearchedNumber): AsyncGenerator<Mention> {
    const own = new Set<number>();
    for (const place of MENTION_PLACES)
      for await (const mention of this.#mentions(number, place)) {
        const { key } = mention;
        if (place === 'cdr' && formsIn(mention, number).length > 0) own.add(Number(key[0]));
        else if (place !== 'call_timeline' || !own.has(Number(key[0]))) yield mention;
      }
  }

  async *#mentions(number: SearchedNumber, place: MentionPlace): AsyncGenerator<Mention> {
    for (let after: Mention['key'] | undefined; ; ) {
      const { mentions, next } = await this.#deps.mentions.list(number, place, after);
      yield* mentions;
      if (next === undefined) return;
      after = next;
    }
  }

  /**
   * Erases the number from all records. Call records keep their times and amounts. Recordings of its calls, their
   * transcriptions, the timelines of its calls and stored webhook deliveries are deleted. Contacts are no longer called.
   */
  async erase(person: PersonNumber): Promise<Result<PersonalDataCounts, PersonalDataRefusal>> {
    const search = await this.#search(person);
    if ((await this.#runningCalls(search.number)) > 0) return err({ kind: 'callRunning' });
    // Counted first, because the erasure of recordings and calls also erases the number in other records.
    let mentions = 0;
    for await (const _ of this.#otherMentions(search.number)) mentions += 1;
    const recordings = await this.#eraseRecordings(search);
    let calls = 0;
    for (const { accountId, written } of search.forms)
      for (const side of SIDES)
        calls += await this.#eraseCalls(written, { accountId, [side]: written });
    let contacts = 0;
    for (;;) {
      const erased = await this.#deps.campaigns.eraseContacts(person.digits, BATCH);
      contacts += erased;
      if (erased < BATCH) break;
    }
    for (const place of MENTION_PLACES) await this.#eraseMentions(search.number, place);
    await this.#deps.finishErasure();
    return ok({ calls, recordings, contacts, mentions });
  }

  async #eraseMentions(number: SearchedNumber, place: MentionPlace): Promise<void> {
    for (let after: Mention['key'] | undefined; ; ) {
      const { mentions, next } = await this.#deps.mentions.list(number, place, after);
      const keys = mentions.map(({ key }) => key);
      for (let at = 0; at < keys.length; at += BATCH)
        await this.#deps.mentions.erase(number, place, keys.slice(at, at + BATCH));
      if (next === undefined) return;
      after = next;
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

  async #eraseRecordings(search: Search): Promise<number> {
    const { recordings } = this.#deps;
    let erased = 0;
    for await (const { accountId, recordingId } of this.#recordings(search))
      if ((await recordings.remove(accountId, recordingId)).ok) erased += 1;
    return erased;
  }

  async *#calls({ forms }: Search): AsyncGenerator<CdrRecord> {
    const seen = new Set<string>();
    for (const { accountId, written } of forms) {
      for (const side of SIDES) {
        let before: number | undefined;
        for (;;) {
          const batch = await this.#deps.cdrs.walk({ accountId, [side]: written }, before, BATCH);
          for (const record of batch) {
            // A call from a number to itself matches both filters.
            if (seen.has(record.cdr.callUuid)) continue;
            seen.add(record.cdr.callUuid);
            yield record;
          }
          before = batch.at(-1)?.number;
          if (batch.length < BATCH) break;
        }
      }
    }
  }

  /** Recordings in which the number takes part: its own, and those of the legs that were connected to it. */
  async *#recordings(search: Search): AsyncGenerator<Recording> {
    const seen = new Set<string>();
    for await (const filter of this.#recordingFilters(search)) {
      for await (const recording of this.#deps.recordings.walk(filter)) {
        if (seen.has(recording.recordingId)) continue;
        seen.add(recording.recordingId);
        yield recording;
      }
    }
  }

  async *#recordingFilters(search: Search): AsyncGenerator<RecordingFilter> {
    for (const { accountId, written } of search.forms)
      for (const side of SIDES) yield { accountId, [side]: written };
    for await (const { cdr } of this.#calls(search))
      for (const callUuid of legsOf(cdr)) yield { accountId: cdr.accountId, callUuid };
  }

  /** Finds the forms of the number in call records. Its digits count as a form of each account. */
  async #search(person: PersonNumber): Promise<Search> {
    const number = await this.#searched(person);
    const forms = new Map<string, WrittenForm>();
    const add = (form: WrittenForm) => forms.set(`${form.accountId} ${form.written}`, form);
    for await (const { authId } of this.#accounts())
      add({ accountId: authId, written: number.digits });
    for await (const mention of this.#mentions(number, 'cdr'))
      for (const form of formsIn(mention, number)) add(form);
    return { number, forms: [...forms.values()] };
  }

  async #searched(person: PersonNumber): Promise<SearchedNumber> {
    const nationalAccounts: AccountId[] = [];
    if (person.national !== undefined)
      for await (const { authId, country } of this.#accounts())
        if (country === person.country) nationalAccounts.push(authId);
    return { ...person, nationalAccounts };
  }

  async *#accounts(): AsyncGenerator<Account> {
    for (let offset = 0; ; offset += BATCH) {
      const { items } = await this.#deps.accounts.list(
        { parentAuthId: undefined },
        { limit: BATCH, offset },
      );
      yield* items;
      if (items.length < BATCH) return;
    }
  }

  async *#scopes(): AsyncGenerator<AccountId | 'operator'> {
    yield 'operator';
    for await (const { authId } of this.#accounts()) yield authId;
  }

  async #isListed(scope: DoNotCallScope, number: string): Promise<boolean> {
    const slice = { limit: BATCH, offset: 0 };
    const { items } = await this.#deps.campaigns.doNotCall(scope, number, slice);
    return items.some((one) => one.number === number);
  }

  async #runningCalls(number: SearchedNumber): Promise<number> {
    const open = await this.#deps.calls.listOpen();
    const isIts = ({ cdr }: OpenCall) =>
      [cdr.from, cdr.to].some((text) => isNumber(text, number, cdr.accountId));
    return open.filter(isIts).length;
  }
}

/** The leg, and the legs that were connected to it. */
const legsOf = ({ callUuid, parentCallUuid, bridgeUuid }: Cdr): readonly CallUuid[] =>
  [callUuid, parentCallUuid, bridgeUuid].filter((uuid) => uuid !== undefined);

/** Forms of the number that are the whole caller or destination of a call record. */
const formsIn = ({ accountId, texts }: Mention, number: SearchedNumber): readonly WrittenForm[] =>
  accountId === undefined
    ? []
    : [texts['from_number'], texts['to_number']]
        .filter((text) => text !== undefined && isNumber(text, number, accountId))
        .map((written) => ({ accountId, written: String(written) }));
