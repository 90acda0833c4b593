/** Personal data of a number in every store: search, export and erasure. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AccountId,
  type AgentId,
  asAccountId,
  asCallUuid,
  asCampaignId,
  type RecordingId,
} from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { Campaign } from '../../src/domain/campaign/types.ts';
import { chargesOf } from '../../src/domain/cdr/cdr.ts';
import { ofDigits } from '../../src/domain/privacy/person-number.ts';
import { PersonalData } from '../../src/domain/privacy/privacy.ts';
import { Recordings } from '../../src/domain/recording/recording.ts';
import type { Recording } from '../../src/domain/recording/types.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { aPlan, NO_CONTACTS, OWNER } from '../domain/campaign/records.ts';
import { seededRandom } from '../edge/store/open.ts';
import { aCdr, anAccount, anEntry, anOpenCall, START_US } from '../edge/store/records.ts';
import type { Opened } from './store-contract.ts';

const NUMBER = '14155550199';
const PERSON = ofDigits(NUMBER);
const OTHER = '14155550111';
const CAMPAIGN = asCampaignId('c1');
const uuid = (n: number) => asCallUuid(`0b6c1c3e-8f0a-4f4e-9a53-00000000000${n}`);
const [FROM, TO, PARENT, STRANGER] = [uuid(1), uuid(2), uuid(3), uuid(4)];
const FOREIGN = asAccountId('MA_00000000000OTHER0');

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

export function privacyContract(name: string, open: () => Promise<Opened>): void {
  describe(`personal data in ${name}`, () => {
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
      await store.accounts.create(anAccount(), 'token');
      await store.accounts.create(anAccount({ authId: FOREIGN }), 'token-2');
      await addCalls();
      await addContacts();
      await addMentions();
      await store.campaigns.addDoNotCall('operator', [NUMBER, `${NUMBER}9`], START_US, 9);
    });
    afterEach(() => opened.dispose());

    async function addCalls(): Promise<void> {
      const calls = [
        aCdr({
          callUuid: FROM,
          from: NUMBER,
          to: OTHER,
          callerName: 'Anna',
          sipUserAgent: 'Phone',
        }),
        aCdr({ callUuid: TO, accountId: FOREIGN, from: OTHER, to: NUMBER, parentCallUuid: PARENT }),
        aCdr({ callUuid: PARENT, accountId: FOREIGN, from: OTHER, to: '200' }),
        aCdr({ callUuid: STRANGER, from: OTHER, to: '200', callerName: 'Bob' }),
      ];
      for (const cdr of calls) {
        const [entry] = chargesOf({ ...cdr, cost: micros(300) });
        if (entry === undefined) throw new Error('the call has no charge');
        await store.calls.settle({ cdr, entries: [entry], notification: undefined });
        const line = { atUs: START_US, kind: 'stream', text: 'transcript', facts: {} } as const;
        await store.callLogs.put(cdr.callUuid, [line]);
        await store.recordings.insert(aRecording(cdr));
      }
      await store.transcriptions.insert({
        transcriptionId: 't1',
        recordingId: `r-${FROM}` as RecordingId,
        accountId: anAccount().authId,
        subAccount: undefined,
        callUuid: FROM,
        subject: '',
        language: 'en',
        currency: 'USD',
        target: undefined,
        status: 'ready',
        text: 'Hello, this is Anna.',
        error: undefined,
        durationMs: 1000,
        charge: micros(0),
        perMinute: micros(0),
        createdUs: START_US,
        endedUs: START_US,
      });
    }

    const aRecording = ({ callUuid, accountId, from, to }: ReturnType<typeof aCdr>): Recording => ({
      recordingId: `r-${callUuid}` as RecordingId,
      accountId,
      subAccount: undefined,
      callUuid,
      conferenceName: undefined,
      conferenceUuid: undefined,
      fromNumber: from,
      toNumber: to,
      format: 'wav',
      type: 'call',
      status: 'ready',
      file: `file-${callUuid}`,
      bytes: 1,
      durationMs: 1,
      startUs: START_US,
      endUs: START_US,
      addedUs: START_US,
      pendingCharges: undefined,
    });

    async function addContacts(): Promise<void> {
      await store.campaigns.insert(aCampaign);
      const list = await store.campaigns.beginList(CAMPAIGN);
      const contacts = [NUMBER, OTHER].map((to, index) => ({
        rowNumber: index + 1,
        to,
        from: undefined,
        answerUrl: 'https://example.com/anna',
        hangupUrl: undefined,
        headers: [['name', 'Anna']] as const,
        timezone: '',
      }));
      await store.campaigns.addRows(list, contacts, []);
      await store.campaigns.finishList(CAMPAIGN, list, ['draft']);
      await store.campaigns.change(CAMPAIGN, ['ready'], { status: 'running' });
    }

    const entry = (detail: string) => ({
      atUs: START_US,
      who: 'admin',
      accountId: undefined,
      what: 'x',
      method: 'POST',
      path: '/admin/v1/x',
      status: 200,
      address: '192.0.2.1',
      detail,
    });

    async function addMentions(): Promise<void> {
      await store.users.addAudit(entry(`{"to":"+${NUMBER}"}`));
      await store.users.addAudit(entry(`{"to":"+${NUMBER}1"}`));
      await store.unreadableRows.put([
        { table: 'x', key: 'k', reason: 'r', original: `{"number":"${NUMBER}"}` },
      ]);
    }

    const descriptions = async (accountId: AccountId): Promise<readonly string[]> => {
      const { entries } = await store.ledger.page({ accountId }, 1, 10);
      return entries.map(({ description }) => description);
    };

    const lists = { doNotCallLists: 1, runningCalls: 0 };

    it('finds calls, recordings with the number, and contacts in all accounts', async () => {
      // The recording of the parent leg contains the voice of the called number.
      const found = { calls: 2, recordings: 3, transcriptions: 1, contacts: 1, mentions: 4 };
      expect(await data.find(PERSON)).toEqual({ ...found, ...lists });
      const none = { calls: 0, recordings: 0, transcriptions: 0, contacts: 0, mentions: 0 };
      expect(await data.find(ofDigits('14155550000'))).toEqual({
        ...none,
        doNotCallLists: 0,
        runningCalls: 0,
      });
    });

    it('exports each record with timeline and transcription', async () => {
      const items = [];
      for await (const item of data.export(PERSON)) items.push(item);
      expect(items.map(({ kind }) => kind).join(' ')).toBe(
        'call call recording recording recording contact mention mention mention mention',
      );
      expect(items).toContainEqual(
        expect.objectContaining({
          recording: expect.objectContaining({ callUuid: FROM }),
          transcriptions: [expect.objectContaining({ text: 'Hello, this is Anna.' })],
        }),
      );
      const [call] = items;
      expect(call?.kind === 'call' && call.timeline?.lines[0]?.text).toBe('transcript');
      expect(items.at(-4)).toMatchObject({ mention: { place: 'audit' } });
      expect(items.at(-1)).toMatchObject({ mention: { place: 'entry' } });
      const last = items.at(-5);
      expect(last?.kind === 'contact' && last.contact).toMatchObject({
        accountId: OWNER.accountId,
        campaignId: CAMPAIGN,
      });
    });

    it('erases everything but amounts and do-not-call entries, and no other number', async () => {
      const balance = await store.ledger.balance(FOREIGN, 'USD');
      const erased = await data.erase(PERSON);
      expect(erased).toEqual({
        ok: true,
        value: { calls: 2, recordings: 3, contacts: 1, mentions: 4 },
      });
      const none = { calls: 0, recordings: 0, transcriptions: 0, contacts: 0, mentions: 0 };
      const audit = await store.users.audit({ accountId: 'all' }, { limit: 10, offset: 0 });
      expect(audit.items.map(({ detail }) => detail)).toEqual([
        `{"to":"+${NUMBER}1"}`,
        `{"to":"+erased"}`,
      ]);
      expect(await data.find(PERSON)).toEqual({ ...none, ...lists });
      expect(removed.toSorted()).toEqual([FROM, TO, PARENT].map((call) => `file-${call}`));
      expect((await store.cdrs.get(FROM))?.cdr).toMatchObject({
        from: 'erased',
        to: OTHER,
        callerName: '',
        sipUserAgent: undefined,
        cost: aCdr().cost,
        startUs: aCdr().startUs,
      });
      expect((await store.cdrs.get(TO))?.cdr).toMatchObject({ from: OTHER, to: 'erased' });
      for (const call of [FROM, TO, PARENT])
        expect(await store.callLogs.read(call)).toBeUndefined();
      expect(await store.transcriptions.get('t1')).toBeUndefined();
      expect((await store.callLogs.read(STRANGER))?.lines).toHaveLength(1);
      expect((await store.cdrs.get(STRANGER))?.cdr).toMatchObject({
        from: OTHER,
        callerName: 'Bob',
      });
      expect(await store.ledger.balance(FOREIGN, 'USD')).toEqual(balance);
      expect(await descriptions(FOREIGN)).toEqual([
        expect.stringContaining(` from ${OTHER} to 200,`),
        expect.stringContaining(` from ${OTHER} to erased,`),
      ]);
      expect(await descriptions(anAccount().authId)).toEqual([
        expect.stringContaining(` from ${OTHER} to 200,`),
        expect.stringContaining(` from erased to ${OTHER},`),
      ]);
      expect(await store.verify()).toEqual([]);
    });

    it('does not call an erased contact, and keeps the counters of its campaign', async () => {
      await data.erase(PERSON);
      const query = {
        campaignId: CAMPAIGN,
        timezone: '',
        nowUs: START_US,
        dayStartUs: 0,
        limit: 10,
      };
      const due = await store.campaigns.due(query);
      expect(due.map(({ contact }) => contact.to)).toEqual([OTHER]);
      const campaign = await store.campaigns.get(CAMPAIGN);
      expect(campaign?.counters).toMatchObject({ pending: 1, failed: 1 });
      const contact = await store.campaigns.contact(1);
      expect(contact).toMatchObject({ answerUrl: undefined, headers: [], status: 'failed' });
      expect(contact?.to).toMatch(/^erased-/);
    });

    it('refuses while a call of the number is running', async () => {
      const running = anOpenCall({ cdr: aCdr({ callUuid: uuid(5), to: NUMBER }) });
      await store.ledger.post([anEntry()], { checked: false });
      await store.calls.open(running, undefined);
      expect(await data.erase(PERSON)).toEqual({ ok: false, error: { kind: 'callRunning' } });
      expect(await data.find(PERSON)).toMatchObject({ calls: 2, runningCalls: 1 });
      await store.calls.discard(running);
    });
  });
}
