/** Callbacks of a node that may have been, or was, declared dead. */
import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import {
  type CallbackClient,
  createCallbackClient,
  KnownTokens,
} from '../../../src/domain/callback/callback.ts';
import type { NotificationStore } from '../../../src/domain/callback/needs.ts';
import type { NotificationDraft } from '../../../src/domain/callback/types.ts';
import { NodeLease } from '../../../src/domain/cluster/cluster.ts';
import { SimClock } from '../../sim/clock.ts';
import { FakeHttp, seededRandom } from './fake-http.ts';

const accountId = asAccountId('MA_A');
const callUuid = asCallUuid('c1');

let clock: SimClock;
let http: FakeHttp;
let lease: NodeLease;
let client: CallbackClient;
let retained: string[];

beforeEach(() => {
  clock = new SimClock();
  http = new FakeHttp(clock);
  lease = new NodeLease(clock);
  retained = [];
  const notifications: NotificationStore = {
    put: async ({ event }) => void retained.push(event),
    adopt: async () => 0,
    listPending: async () => [],
    recordAttempt: async () => undefined,
    remove: async () => undefined,
    removeUntil: async () => 0,
  };
  client = createCallbackClient({
    http,
    clock,
    lease,
    notifications,
    logger: silentLogger,
    random: seededRandom(),
    tokens: new KnownTokens({ tokensOf: async () => undefined }),
    settings: { userAgent: 'Test/1', signatureHeaders: [], firstByteMs: 5000 },
    onAttempt: () => undefined,
  });
});

const draft = (event: string, subject = 'c1'): NotificationDraft => ({
  accountId,
  subject,
  event,
  target: { url: `https://a.example/${event}`, method: 'POST' },
  parameters: [['Event', event]],
});
const notify = (event: string, subject?: string): void => client.notify(draft(event, subject));
const stored = (event: string, subject?: string): void =>
  client.notifyStored({ ...draft(event, subject), id: event, createdUs: 0, attempts: 0 });
const post = (name: string): void =>
  client.post({
    accountId,
    callUuid,
    name,
    body: {},
    target: { url: `https://a.example/${name}`, method: 'POST' },
  });
const sent = (): string[] =>
  http.requests.map(({ request }) => request.url.replace('https://a.example/', ''));

describe('callbacks of a node whose lease has expired', () => {
  it('wait until the store confirms a beat of the node', async () => {
    await clock.advance(8000);
    notify('Ring');
    stored('Hangup', 'c2');
    post('JsonEvent');
    await clock.advance(60_000);
    expect(sent()).toEqual([]);
    lease.confirmedByStore(clock.monotonicMs());
    await clock.advance(1000);
    expect(sent().sort()).toEqual(['Hangup', 'JsonEvent', 'Ring']);
  });

  it('are not retried while the lease is expired', async () => {
    http.reply = () => 500;
    notify('Ring');
    await clock.advance(100);
    const before = sent().length;
    expect(before).toBeGreaterThan(0);
    await clock.advance(4000);
    const attempts = sent().length;
    await clock.advance(300_000);
    expect(sent().length).toBeLessThanOrEqual(attempts + 1);
  });

  it('delay documents too; their time limit starts afterwards', async () => {
    await clock.advance(8000);
    const target = { url: 'https://a.example/answer', method: 'POST' } as const;
    const fetched = client.fetchDocument(target, [], {
      accountId,
      callUuid,
      kind: 'answer' as const,
      signal: new AbortController().signal,
    });
    await clock.advance(300_000);
    expect(sent()).toEqual([]);
    lease.confirmedByStore(clock.monotonicMs());
    await clock.advance(1000);
    expect((await fetched).ok).toBe(true);
  });
});

describe('callbacks of a node that was declared dead', () => {
  it('are dropped, both waiting ones and later reports about its calls', async () => {
    await clock.advance(8000);
    notify('DialHangup');
    stored('Hangup', 'c2');
    post('JsonEvent');
    client.fence(['c1', 'c2']);
    notify('Late');
    stored('LateHangup', 'c2');
    post('LateEvent');
    client.unfence();
    lease.confirmedByStore(clock.monotonicMs());
    notify('Later');
    post('LaterEvent');
    await clock.advance(60_000);
    expect(sent()).toEqual([]);
    expect(retained).toEqual(['DialHangup']);
    expect(client.queued()).toBe(0);
  });

  it('are not retried after an earlier failure', async () => {
    http.reply = () => 500;
    notify('Ring');
    await clock.advance(100);
    const before = sent().length;
    client.fence(['c1']);
    client.unfence();
    lease.confirmedByStore(clock.monotonicMs());
    await clock.advance(300_000);
    expect(sent()).toHaveLength(before);
  });

  it('of other subjects are held back and sent once the new epoch has begun', async () => {
    client.fence(['c1']);
    notify('LowBalance', 'account');
    await clock.advance(3000);
    expect(sent()).toEqual([]);
    expect(retained).toEqual([]);
    client.unfence();
    lease.confirmedByStore(clock.monotonicMs());
    await clock.advance(1000);
    expect(sent()).toEqual(['LowBalance']);
    notify('Ring', 'c3');
    await clock.advance(1000);
    expect(sent()).toEqual(['LowBalance', 'Ring']);
  });
});
