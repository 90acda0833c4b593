/** Every place that can mention a number, in every store: search in all notations, and erasure. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentId,
  asCallUuid,
  asCampaignId,
  asRecordingId,
  type RecordingId,
} from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { Campaign } from '../../src/domain/campaign/types.ts';
import { chargesOf } from '../../src/domain/cdr/cdr.ts';
import { MENTION_PLACES, type MentionPlace } from '../../src/domain/privacy/needs.ts';
import { ofDigits } from '../../src/domain/privacy/person-number.ts';
import { PersonalData } from '../../src/domain/privacy/privacy.ts';
import { Recordings } from '../../src/domain/recording/recording.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { aPlan, NO_CONTACTS, OWNER } from '../domain/campaign/records.ts';
import { seededRandom } from '../edge/store/open.ts';
import { aCdr, aNotification, anAccount, START_US } from '../edge/store/records.ts';
import type { Opened } from './store-contract.ts';

const PERSON = ofDigits('493012345678');
/** Notations of the person, and of other numbers that contain its digits. */
const NOTATIONS = ['+49 30 12345678', '0049-30-12345678', '030/12345678', '+49 (0)30 1234 5678'];
const OTHERS = ['+493012345678-90', '1493012345678', '+4930123456789'];
const TEXT = NOTATIONS.map((number) => `call ${number}.`).join('\n');
const KEPT = OTHERS.map((number) => `call ${number}.`).join('\n');

const ACCOUNT = anAccount().authId;
const CAMPAIGN = asCampaignId('c1');
const CALL = asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-000000000001');
const OTHER_CALL = asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-000000000002');
const NATIONAL_CALL = asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-000000000003');
const SIP_CALL = asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-000000000004');

const aCampaign: Campaign = {
  ...aPlan({ agentId: 'a1' as AgentId }),
  ...OWNER,
  id: CAMPAIGN,
  status: 'draft',
  pauseReason: undefined,
  counters: NO_CONTACTS,
  consecutiveFailures: 0,
  queuedUs: undefined,
  startedUs: undefined,
  completedUs: undefined,
  lastDialUs: undefined,
  createdUs: START_US,
  updatedUs: START_US,
};

/** Writes a record with a text to each place. */
const WRITERS: Readonly<Record<MentionPlace, (store: Store, text: string) => Promise<unknown>>> = {
  webhook_delivery: (store, text) =>
    store.deliveries.put(
      [
        {
          id: `d-${text.length}`,
          accountId: ACCOUNT,
          isDelivered: true,
          atUs: 1,
          callUuid: undefined,
          replayOf: undefined,
          requestBody: new URLSearchParams({ To: text }).toString(),
          responseBody: '',
          request: {
            url: 'https://bot.example/',
            parameters: [],
            json: undefined,
            signs: undefined,
            headers: undefined,
          },
          attempt: {
            event: 'StartApp',
            method: 'POST',
            url: 'https://bot.example/',
            status: 200,
            error: undefined,
            durationMs: 1,
            signedString: '',
          },
        },
      ],
      10,
    ),
  notification: (store, text) =>
    store.notifications.put(
      aNotification({ id: `n-${text.length}`, parameters: [['To', text]], json: undefined }),
    ),
  idempotency_key: async (store, text) => {
    const key = `k-${text.length}`;
    await store.idempotency.begin(ACCOUNT, key, '');
    await store.idempotency.finish(ACCOUNT, key, JSON.stringify({ text }));
  },
  audit: (store, detail) =>
    store.users.addAudit({
      atUs: START_US,
      who: 'admin',
      accountId: ACCOUNT,
      what: 'x',
      method: 'POST',
      path: '/x',
      status: 200,
      address: '192.0.2.1',
      detail,
    }),
  export_job: (store, text) =>
    store.exports.enqueue({
      exportId: `e-${text.length}`,
      accountId: ACCOUNT,
      recipients: [],
      filter: { accountId: ACCOUNT, search: text } as never,
      status: 'done',
      attempts: 1,
      file: undefined,
      recordings: 0,
      error: text,
      createdUs: START_US,
      updatedUs: START_US,
    }),
  campaign_bad_row: async (store, reason) => {
    const list = await store.campaigns.beginList(CAMPAIGN);
    await store.campaigns.addRows(list, [], [{ rowNumber: 1, reason }]);
  },
  campaign_contact: async (store, text) => {
    const list = await store.campaigns.beginList(CAMPAIGN);
    const contact = {
      rowNumber: 1,
      to: '14155550111',
      from: undefined,
      answerUrl: undefined,
      hangupUrl: undefined,
      headers: [['note', text]] as const,
      timezone: '',
    };
    await store.campaigns.addRows(list, [contact], []);
  },
  unreadable_row: (store, original) =>
    store.unreadableRows.put([
      {
        table: 'x',
        key: `k-${original.length}`,
        reason: 'r',
        original: JSON.stringify([original]),
      },
    ]),
  cdr: (store, failureReason) =>
    settle(store, aCdr({ callUuid: uuidOf(5, failureReason), failureReason })),
  call_timeline: async (store, text) => {
    const callUuid = uuidOf(6, text);
    await settle(store, aCdr({ callUuid }));
    const line = { atUs: START_US, kind: 'stream', text, facts: { said: text } } as const;
    await store.callLogs.put(callUuid, [line]);
  },
  recording: (store, conferenceName) =>
    store.recordings.insert({ ...aRecording(uuidOf(7, conferenceName)), conferenceName }),
  transcription: (store, text) =>
    store.transcriptions.insert({
      transcriptionId: `t-${text.length}`,
      recordingId: 'r' as RecordingId,
      accountId: ACCOUNT,
      subAccount: undefined,
      callUuid: undefined,
      subject: '',
      language: 'en',
      currency: 'USD',
      target: undefined,
      status: 'ready',
      text,
      error: undefined,
      durationMs: 1000,
      charge: micros(0),
      perMinute: micros(0),
      createdUs: START_US,
      endedUs: START_US,
    }),
  entry: (store, text) =>
    store.ledger.post(
      [
        {
          accountId: ACCOUNT,
          currency: 'USD',
          type: 'debit',
          sign: -1,
          amount: micros(5),
          description: text,
          referenceType: 'cdr',
        } as never,
      ],
      { checked: false },
    ),
};

const uuidOf = (kind: number, text: string) =>
  asCallUuid(`0b6c1c3e-8f0a-4f4e-9a53-00000000${kind}${String(text.length).padStart(3, '0')}`);

async function settle(store: Store, cdr: ReturnType<typeof aCdr>): Promise<void> {
  const entries = chargesOf({ ...cdr, cost: micros(300) });
  await store.calls.settle({ cdr, entries, notification: undefined });
}

const aRecording = (callUuid: string, fromNumber = '14155550111') => ({
  recordingId: asRecordingId(callUuid),
  accountId: ACCOUNT,
  subAccount: undefined,
  callUuid: undefined,
  conferenceName: undefined,
  conferenceUuid: undefined,
  fromNumber,
  toNumber: '14155550111',
  format: 'wav' as const,
  type: 'call' as const,
  status: 'ready' as const,
  file: `file-${callUuid}`,
  bytes: 1,
  durationMs: 1,
  startUs: START_US,
  endUs: START_US,
  addedUs: START_US,
  pendingCharges: undefined,
});

export function mentionContract(name: string, open: () => Promise<Opened>): void {
  describe(`mentions of a number in ${name}`, () => {
    let opened: Opened;
    let store: Store;
    let data: PersonalData;
    const removed: string[] = [];

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      removed.length = 0;
      const recordings = new Recordings({
        recordings: store.recordings,
        exports: store.exports,
        files: {
          remove: async (file) => {
            removed.push(file);
          },
        },
        clock: opened.clock,
        random: seededRandom(),
      });
      data = new PersonalData({ ...store, recordings });
      await store.accounts.create(anAccount({ country: 'DE' }), 'token');
      await store.campaigns.insert(aCampaign);
    });
    afterEach(() => opened.dispose());

    const searched = { ...PERSON, nationalAccounts: [ACCOUNT] };
    const mentioned = async (place: MentionPlace) =>
      (await store.mentions.list(searched, place, undefined)).mentions.map(({ texts }) => texts);

    it.each(MENTION_PLACES)('%s: found in each notation, and erased', async (place) => {
      for (const notation of NOTATIONS) await WRITERS[place](store, `${place} ${notation} ends`);
      await WRITERS[place](store, `${place} ${KEPT}`);
      const found = await mentioned(place);
      expect(found).toHaveLength(NOTATIONS.length);
      const balance = await store.ledger.balance(ACCOUNT, 'USD');
      expect(await data.erase(PERSON)).toMatchObject({ ok: true });
      expect(await mentioned(place)).toEqual([]);
      expect(await data.find(PERSON)).toMatchObject({ calls: 0, mentions: 0 });
      expect(await store.ledger.balance(ACCOUNT, 'USD')).toEqual(balance);
      expect(await store.verify()).toEqual([]);
    });

    it('replaces the number in a text, and no longer number', async () => {
      await WRITERS.transcription(store, `${TEXT}\n${KEPT}`);
      await data.erase(PERSON);
      const { text } = (await store.transcriptions.get(`t-${`${TEXT}\n${KEPT}`.length}`)) ?? {};
      expect(text).toBe(`call +erased.\ncall erased.\ncall erased.\ncall +erased.\n${KEPT}`);
    });

    it('erases calls and recordings of the number in every form that carriers send', async () => {
      const forms = {
        [CALL]: '00493012345678',
        [NATIONAL_CALL]: '03012345678',
        [SIP_CALL]: 'sip:+493012345678@example.com',
        [OTHER_CALL]: '4930123456789',
      };
      for (const [callUuid, from] of Object.entries(forms)) {
        await settle(store, aCdr({ callUuid: asCallUuid(callUuid), from }));
        await store.callLogs.put(asCallUuid(callUuid), []);
        await store.recordings.insert(aRecording(callUuid, from));
      }
      expect(await data.find(PERSON)).toMatchObject({ calls: 3, recordings: 3 });
      expect(await data.erase(PERSON)).toMatchObject({ value: { calls: 3, recordings: 3 } });
      expect(removed.toSorted()).toEqual([CALL, NATIONAL_CALL, SIP_CALL].map((id) => `file-${id}`));
      expect((await store.cdrs.get(SIP_CALL))?.cdr.from).toBe('erased');
      expect((await store.cdrs.get(OTHER_CALL))?.cdr.from).toBe('4930123456789');
    });

    it('keeps the national form in records of accounts in other countries', async () => {
      await store.accounts.patch(ACCOUNT, { country: 'AT' });
      await settle(store, aCdr({ callUuid: NATIONAL_CALL, from: '03012345678' }));
      expect(await data.find(PERSON)).toMatchObject({ calls: 0, mentions: 0 });
    });
  });
}
