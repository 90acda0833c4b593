/** Lists with every filter, and cleanup statements. Each is SQL that another database may interpret differently or reject. */
import { expect, it } from 'vitest';
import { asAccountId, asAppId, asCallUuid, asTrunkId } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { CdrFilter } from '../../src/domain/cdr/types.ts';
import type { EndpointFilter } from '../../src/domain/provisioning/needs.ts';
import type { Recording, RecordingFilter } from '../../src/domain/recording/types.ts';
import { aCdr, anAccount, START_US } from '../edge/store/records.ts';
import type { Opened } from './store-contract.ts';

const ACCOUNT = anAccount().authId;
const SUB = asAccountId('SA_S');
const CALL = aCdr().callUuid;
const SLICE = { limit: 10, offset: 0 };
const DAY_MS = 86_400_000;

/** Returns a filter for each single field, and one with all fields. */
function eachOf<T extends object>(whole: Required<T>, base: Partial<T>): readonly T[] {
  const single = Object.entries(whole).map(([key, value]) => ({ ...base, [key]: value }) as T);
  return [...single, { ...whole }];
}

const TRUNK = asTrunkId('7d4f4b8e-2f0a-4a7e-9a0e-3a0b8d1c2e3f');
const ONE_WAY = {
  packetsReceived: 1,
  packetsSent: 1,
  packetsLost: 0,
  packetsLate: 0,
  jitterMs: 1,
  lossFraction: 0,
  mos: 3.5,
  roundTripMs: 20,
  unheardMs: 500,
};

export function statementsContract(name: string, open: () => Promise<Opened>): void {
  it(`${name}: finds calls by every filter and keeps them for the account's retention`, async () => {
    const { store, dispose } = await open();
    await store.accounts.create(anAccount({ cdrRetentionMs: 2 * DAY_MS }), 't');
    const cdr = aCdr({
      subAccount: SUB,
      bridgeUuid: CALL,
      parentCallUuid: CALL,
      campaignId: 'k',
      trunkId: TRUNK,
      quality: ONE_WAY,
    });
    await store.calls.settle({ cdr, entries: [], notification: undefined });
    await store.callLogs.put(CALL, []);
    const whole: Required<CdrFilter> = {
      accountId: ACCOUNT,
      subAccount: SUB,
      fromNumber: cdr.from,
      toNumber: cdr.to,
      startFromUs: cdr.startUs,
      startToUs: cdr.startUs,
      endFromUs: cdr.endUs,
      endToUs: cdr.endUs,
      direction: cdr.direction,
      minAnsweredMs: 1,
      answeredFromMs: 1,
      answeredToMs: DAY_MS,
      sipCallId: cdr.sipCallId,
      bridgeUuid: CALL,
      parentCallUuid: CALL,
      hangupCause: cdr.hangupCause,
      hangupCauseCode: cdr.hangupCauseCode,
      hangupSource: cdr.hangupSource,
      hangupDisposition: cdr.hangupDisposition,
      context: cdr.context,
      campaignId: 'k',
      trunkId: TRUNK,
      costFrom: cdr.cost,
      costTo: micros(cdr.cost + cdr.streamingCost),
      oneWayAudio: true,
      search: CALL.slice(0, 4).toUpperCase(),
    };
    for (const filter of eachOf(whole, { accountId: ACCOUNT })) {
      const page = await store.cdrs.page(filter, SLICE);
      expect([filter, page.total]).toEqual([filter, 1]);
      expect(await store.cdrs.walk(filter, undefined, 5)).toHaveLength(1);
      expect((await store.cdrs.summary(filter)).totalCalls).toBe(1);
      expect(await store.cdrs.daily(filter)).toMatchObject([{ calls: 1 }]);
      expect(await store.cdrs.hourly(filter)).toMatchObject([
        { calls: 1, cost: cdr.cost + cdr.streamingCost },
      ]);
      const range = { before: undefined, limit: 1, scan: 10 };
      const found = await store.cdrs.search(filter, { from: 3, to: 4 }, range);
      expect(found.items).toHaveLength(1);
      const none = await store.cdrs.search(filter, { from: 4.1, to: undefined }, range);
      expect(none).toMatchObject({ items: [], before: undefined, hasReachedLimit: false });
      expect(await store.cdrs.averageMos(filter, 5)).toBe(3.5);
    }
    const after = (days: number): number => cdr.endUs + days * DAY_MS * 1000;
    expect(await store.retention.purgeLogs(after(1), 2 * DAY_MS, 10)).toBe(0);
    expect(await store.retention.purgeLogs(after(3), 2 * DAY_MS, 10)).toBe(1);
    expect(await store.retention.purgeCalls(after(1), 9 * DAY_MS, 10)).toBe(0);
    expect(await store.retention.purgeCalls(after(3), 9 * DAY_MS, 10)).toBe(1);
    await dispose();
  });

  it(`${name}: finds recordings by every filter and keeps them for the account's retention`, async () => {
    const { store, dispose } = await open();
    await store.accounts.create(anAccount({ recordingRetentionMs: DAY_MS }), 't');
    const recording: Recording = {
      recordingId: 'r' as Recording['recordingId'],
      accountId: ACCOUNT,
      subAccount: SUB,
      callUuid: CALL,
      conferenceName: 'room',
      conferenceUuid: 'u',
      fromNumber: '1',
      toNumber: '2',
      format: 'mp3',
      type: 'call',
      status: 'ready',
      file: 'f',
      bytes: 1,
      durationMs: 1,
      startUs: START_US,
      endUs: START_US,
      addedUs: START_US,
      pendingCharges: undefined,
    } as Recording;
    await store.recordings.insert(recording);
    const whole: Required<RecordingFilter> = {
      accountId: ACCOUNT,
      subAccount: SUB,
      callUuid: CALL,
      conferenceName: 'room',
      conferenceUuid: 'u',
      fromNumber: '1',
      toNumber: '2',
      format: recording.format,
      recordingId: recording.recordingId,
      addedFromUs: START_US,
      addedToUs: START_US,
    };
    for (const filter of eachOf(whole, { accountId: ACCOUNT })) {
      expect([filter, (await store.recordings.page(filter, SLICE)).total]).toEqual([filter, 1]);
      expect(await store.recordings.walk(filter, undefined, 5)).toHaveLength(1);
      expect(await store.recordings.walk(filter, recording, 5)).toEqual([]);
    }
    const later = START_US + 2 * DAY_MS * 1000;
    const expiry = { nowUs: later, defaultMs: 9 * DAY_MS, after: undefined };
    expect(
      await store.recordings.expired(
        { nowUs: START_US + 1, defaultMs: DAY_MS, after: undefined },
        5,
      ),
    ).toEqual([]);
    expect(await store.recordings.expired(expiry, 5)).toHaveLength(1);
    expect(await store.recordings.expired({ ...expiry, after: recording }, 5)).toEqual([]);
    expect(await store.recordings.unfinished()).toEqual([]);
    await dispose();
  });

  it(`${name}: lists, changes and deletes customers' resources`, async () => {
    const { store, dispose } = await open();
    await store.accounts.create(anAccount(), 't');
    const endpoints: Required<EndpointFilter> = {
      accountId: ACCOUNT,
      subAccount: SUB,
      usernameExact: 'a',
      usernameContains: 'a',
      usernameStartsWith: 'a',
      aliasContains: 'a',
      aliasExact: 'a',
      appId: asAppId(1),
      appIsNull: false,
    };
    for (const filter of eachOf(endpoints, { accountId: ACCOUNT }))
      expect((await store.endpoints.list(filter, SLICE)).total).toBe(0);
    for (const appIsNull of [true, false])
      expect((await store.endpoints.list({ accountId: ACCOUNT, appIsNull }, SLICE)).total).toBe(0);
    const numbers = { accountId: ACCOUNT, status: 'active', country: 'US', search: '1' } as const;
    for (const filter of [...eachOf(numbers, {}), {}])
      expect((await store.numbers.list(filter, SLICE)).total).toBe(0);
    expect(await store.numbers.dueForRental(START_US, 5)).toEqual([]);
    expect(await store.numbers.completeReleases(START_US)).toBe(0);
    expect(await store.numbers.cancelRelease(ACCOUNT, '1')).toBeUndefined();
    expect(await store.callerIds.owns(ACCOUNT, '1')).toBe(false);
    expect((await store.applications.list({ accountId: ACCOUNT }, SLICE)).total).toBe(0);
    expect(await store.applications.remove(ACCOUNT, asAppId(1), undefined)).toMatchObject({
      error: 'unknown',
    });
    for (const parts of [store.trunks, store.credentials, store.ipAcls, store.originationUris]) {
      expect((await parts.list(ACCOUNT, SLICE)).total).toBe(0);
      expect(await parts.remove(ACCOUNT, 'x' as never)).toMatchObject({ error: 'unknown' });
    }
    expect(await store.accounts.removeSubAccount(SUB)).toEqual([]);
    expect(await store.partners.netAllocation(ACCOUNT, SUB)).toEqual({
      concurrentCalls: 0,
      cps: 0,
    });
    expect((await store.partners.history(ACCOUNT, SLICE)).total).toBe(0);
    const rate = { direction: 'outbound' as const, prefix: '1', currency: 'USD' };
    const priced = { ...rate, accountId: undefined, perMinute: micros(1), pulseMs: 60_000 };
    await store.rates.put(priced);
    await store.rates.put({ ...priced, perMinute: micros(2) });
    expect(await store.rates.listAll()).toMatchObject([{ perMinute: 2 }]);
    expect(await store.rates.remove({ ...rate, accountId: undefined })).toBe(true);
    await dispose();
  });

  it(`${name}: adds and deletes users and phone logins`, async () => {
    const { store, dispose } = await open();
    const user = {
      id: 'u',
      email: 'a@b',
      role: 'admin' as const,
      accountId: undefined,
      passwordHash: 'h',
      totpSecret: 'secret',
      totpStep: 0,
      createdUs: START_US,
    };
    await store.users.insert(user as never);
    expect(await store.users.list(undefined)).toMatchObject([{ totpSecret: 'secret' }]);
    expect(await store.users.list(ACCOUNT)).toEqual([]);
    const session = (tokenHash: string, createdUs: number) => ({
      tokenHash,
      userId: 'u',
      createdUs,
      seenUs: createdUs,
      userAgent: '',
      address: '',
    });
    for (const [index, hash] of ['s1', 's2', 's3'].entries())
      await store.users.putSession(session(hash, START_US + index) as never, 2);
    const hashes = async () => (await store.users.sessionsOf('u')).map((one) => one.tokenHash);
    expect(await hashes()).toEqual(['s3', 's2']);
    await store.users.removeSessions('u', 's2');
    expect(await hashes()).toEqual(['s2']);
    await store.users.removeSessions('u', undefined);
    expect(await hashes()).toEqual([]);
    await store.users.purge({ nowUs: START_US, sessionsUs: START_US });
    expect(await store.users.purgeAudit(START_US, 10)).toBe(0);
    const login = {
      id: 'l',
      accountId: ACCOUNT,
      keyDigest: 'k',
      jti: 'j',
      endpointId: 'e',
      username: 'n',
      incoming: true,
      outgoing: false,
      expiresUs: START_US + 1,
    };
    expect(await store.phoneLogins.add(login as never, 1, START_US)).toBe('added');
    expect(await store.phoneLogins.live(ACCOUNT, START_US)).toHaveLength(1);
    expect(await store.phoneLogins.revoke(ACCOUNT, 'j', START_US)).toHaveLength(1);
    expect(await store.phoneLogins.revoke(ACCOUNT, 'j', START_US + 1)).toHaveLength(1);
    await store.phoneLogins.purge(START_US + 9);
    expect(await store.phoneLogins.get('l' as never)).toBeUndefined();
    expect(await store.cdrs.get(asCallUuid('none'))).toBeUndefined();
    await dispose();
  });
}
