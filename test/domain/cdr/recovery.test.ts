import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/base/duration.ts';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { localDateTime } from '../../../src/base/time-format.ts';
import { CallRecords, INTERRUPTED, recoverOpenCalls } from '../../../src/domain/cdr/cdr.ts';
import { speechHold } from '../../../src/domain/ledger/ledger.ts';
import type { Store } from '../../../src/edge/store/store.ts';
import { openInMemory } from '../../edge/store/open.ts';
import {
  aCdr,
  aNotification,
  anAccount,
  anEntry,
  anOpenCall,
  START_US,
} from '../../edge/store/records.ts';

const ACCOUNT = anAccount().authId;
const CALL = aCdr().callUuid;
const HEARTBEAT_US = START_US + 75_000_000;

describe('after a crash', () => {
  let store: Store;
  beforeEach(async () => {
    ({ store } = await openInMemory());
    await store.accounts.create(anAccount(), 't');
    await store.ledger.post([anEntry()], { checked: false });
  });
  afterEach(() => store.close());

  const crashWith = async (over: object): Promise<void> => {
    await store.calls.open(anOpenCall({ hangupNotification: aNotification(), ...over }), undefined);
    await store.calls.heartbeat([{ callUuid: CALL, atUs: HEARTBEAT_US }]);
  };
  const recover = () => recoverOpenCalls(store.calls, silentLogger);

  it('closes an open call as Internal Error and bills it up to its last heartbeat', async () => {
    await crashWith({ cdr: aCdr({ billedMs: 0, cost: micros(0) }) });
    const [cdr] = await recover();
    expect(cdr).toMatchObject({
      endUs: HEARTBEAT_US,
      billedMs: 120_000,
      cost: 13_000,
      hangupCauseCode: 5010,
      hangupCauseName: 'Internal Error',
      hangupSource: 'Error',
    });
    expect(await store.ledger.balance(ACCOUNT, 'USD')).toMatchObject({
      balance: 10_000_000 - 13_000,
      reservedFunds: 0,
    });
    expect(await store.verify()).toEqual([]);
  });

  it('charges nothing for an unanswered call and releases its reservation', async () => {
    await crashWith({ cdr: aCdr({ answerUs: undefined, cost: micros(0), billedMs: 0 }) });
    const [cdr] = await recover();
    expect(cdr).toMatchObject({ cost: 0, billedMs: 0, hangupDisposition: 'send_refuse' });
    expect((await store.ledger.balance(ACCOUNT, 'USD'))?.reservedFunds).toBe(0);
  });

  it('stores the hangup notification with the recorded end', async () => {
    await crashWith({});
    await recover();
    const [notification] = await store.notifications.listPending(10);
    expect(Object.fromEntries(notification?.parameters ?? [])).toEqual({
      Event: 'Hangup',
      EndTime: localDateTime(HEARTBEAT_US / 1000),
      Duration: '74',
      HangupCauseCode: '5010',
    });
  });

  it('releases what the call had reserved for speech recognition', async () => {
    await crashWith({ cdr: aCdr({ billedMs: 0, cost: micros(0) }) });
    const reservation = { reservationId: speechHold(CALL, 'u1'), accountId: ACCOUNT } as const;
    const held = { currency: 'USD', amount: micros(700), dailySpendLimit: undefined } as const;
    expect(await store.ledger.reserve({ ...reservation, ...held })).toMatchObject({ ok: true });
    await recover();
    expect((await store.ledger.balance(ACCOUNT, 'USD'))?.reservedFunds).toBe(0);
  });

  it('ends a queued call as when the service stops, not as a failure', async () => {
    const queued = aCdr({ answerUs: undefined, cost: micros(0), billedMs: 0 });
    await crashWith({ cdr: queued, waiting: true });
    expect(await recover()).toMatchObject([
      { hangupCauseCode: 1020, failureReason: INTERRUPTED.beforeDial, cost: 0 },
    ]);
  });

  it('does not report a call that another node settled first', async () => {
    await crashWith({});
    const faster = { ...store.calls, settle: async () => false };
    expect(await recoverOpenCalls(faster, silentLogger)).toEqual([]);
  });

  it('ends no call before its answer, whose heartbeat may be older', async () => {
    const answerUs = HEARTBEAT_US + 5_000_000;
    await crashWith({ cdr: aCdr({ answerUs, billedMs: 0, cost: micros(0) }) });
    expect(await recover()).toMatchObject([
      { endUs: answerUs, hangupDisposition: 'send_bye', billedMs: 60_000 },
    ]);
  });

  it('runs once', async () => {
    await crashWith({});
    expect(await recover()).toHaveLength(1);
    expect(await recover()).toHaveLength(0);
  });

  it('shows the record to its account only', async () => {
    await crashWith({});
    await recover();
    const records = new CallRecords(store.cdrs);
    expect((await records.get(ACCOUNT, CALL)).ok).toBe(true);
    expect(await records.get(asAccountId('MA_OTHER'), CALL)).toEqual({
      ok: false,
      error: { kind: 'unknownCall' },
    });
  });
});

describe('call records', () => {
  it('walks a whole set, latest first', async () => {
    const { store } = await openInMemory();
    for (let index = 0; index < 1203; index += 1) {
      void store.calls.settle({
        cdr: aCdr({ callUuid: asCallUuid(`c${index}`) }),
        entries: [],
        notification: undefined,
      });
    }
    const walked: string[] = [];
    for await (const record of new CallRecords(store.cdrs).walk({ accountId: ACCOUNT })) {
      walked.push(record.cdr.callUuid);
    }
    expect(walked).toHaveLength(1203);
    expect([walked[0], walked.at(-1)]).toEqual(['c1202', 'c0']);
    await store.close();
  });

  it("deletes records and logs after the account's retention, or the default", async () => {
    const { store } = await openInMemory();
    const day = 86_400_000_000;
    await store.accounts.create(anAccount(), 't');
    await store.accounts.create(
      anAccount({ authId: asAccountId('MA_LONG'), cdrRetentionMs: 7_776_000_000 }),
      't',
    );
    for (const [callUuid, accountId] of [
      [asCallUuid('a'), ACCOUNT],
      [asCallUuid('b'), asAccountId('MA_LONG')],
    ] as const) {
      await store.calls.settle({
        cdr: aCdr({ callUuid, accountId }),
        entries: [],
        notification: undefined,
      });
      const line = { kind: 'sip', atUs: START_US, text: 'INVITE', facts: {} } as const;
      await store.callLogs.put(callUuid, [line]);
    }
    expect(await store.retention.purgeCalls(START_US + 29 * day, 30 * DAY_MS, 100)).toBe(0);
    expect(await store.retention.purgeCalls(START_US + 31 * day, 30 * DAY_MS, 100)).toBe(1);
    expect(await store.cdrs.get(asCallUuid('a'))).toBeUndefined();
    expect(await store.callLogs.read(asCallUuid('a'))).toBeUndefined();
    expect(await store.callLogs.read(asCallUuid('b'))).toMatchObject({
      lines: [{ text: 'INVITE' }],
    });
    expect(await store.retention.purgeLogs(START_US + 29 * day, 30 * DAY_MS, 100)).toBe(0);
    expect(await store.retention.purgeLogs(START_US + 31 * day, 30 * DAY_MS, 100)).toBe(1);
    expect(await store.callLogs.read(asCallUuid('b'))).toBeUndefined();
    await store.close();
  });
});
