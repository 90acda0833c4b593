import { beforeEach, describe, expect, it } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { asAccountId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import {
  type CallbackClient,
  createCallbackClient,
  KnownTokens,
} from '../../../src/domain/callback/callback.ts';
import type { NotificationStore, PendingOf } from '../../../src/domain/callback/needs.ts';
import {
  MAX_QUEUED_PER_ACCOUNT,
  MAX_QUEUED_PER_CAMPAIGN,
} from '../../../src/domain/callback/settings.ts';
import type { StoredNotification } from '../../../src/domain/callback/types.ts';
import { SimClock } from '../../sim/clock.ts';
import { FakeHttp, seededRandom } from './fake-http.ts';

const isOf = ({ accountId, subject, json }: StoredNotification, of?: PendingOf): boolean =>
  of === undefined ||
  (accountId === of.accountId && (json === undefined ? undefined : subject) === of.subject);

class MemoryStore implements NotificationStore {
  readonly rows = new Map<string, StoredNotification>();
  broken = false;
  /** Removals are committed once this promise resolves. */
  commit: Promise<void> | undefined;

  async put(notification: StoredNotification): Promise<void> {
    this.#check();
    this.rows.set(notification.id, notification);
  }

  async adopt(): Promise<number> {
    return 0;
  }

  async listPending(limit: number, of?: PendingOf): Promise<readonly StoredNotification[]> {
    this.#check();
    return [...this.rows.values()].filter((row) => isOf(row, of)).slice(0, limit);
  }

  async removeUntil(of: PendingOf, createdUs: number): Promise<number> {
    const old = [...this.rows.values()].filter(
      (row) => isOf(row, of) && row.createdUs <= createdUs,
    );
    for (const { id } of old) this.rows.delete(id);
    return old.length;
  }

  async recordAttempt(id: string, attempts: number): Promise<void> {
    this.#check();
    const row = this.rows.get(id);
    if (row !== undefined) this.rows.set(id, { ...row, attempts });
  }

  async remove(id: string): Promise<void> {
    this.#check();
    await this.commit;
    this.rows.delete(id);
  }

  #check(): void {
    if (this.broken) throw new Error('disk full');
  }
}

let clock: SimClock;
let http: FakeHttp;
let store: MemoryStore;
let client: CallbackClient;
let attempted: string[];
let seed = 1;
let storeIsAway = false;

const start = (): CallbackClient =>
  createCallbackClient({
    http,
    clock,
    random: seededRandom(seed++),
    logger: silentLogger,
    tokens: new KnownTokens({
      tokensOf: async () => {
        if (storeIsAway) throw new ServiceError('STORE_BUSY', 'the database is unavailable');
        return { own: 'token', parent: undefined };
      },
    }),
    settings: { userAgent: 'Test/1', signatureHeaders: ['X-Plivo-Signature'], firstByteMs: 5000 },
    notifications: store,
    onAttempt: (notification, { status }) => attempted.push(`${notification.event} ${status}`),
  });

beforeEach(() => {
  clock = new SimClock();
  http = new FakeHttp(clock);
  store = new MemoryStore();
  attempted = [];
  storeIsAway = false;
  client = start();
});

const notify = (
  event: string,
  call = 'c1',
  account = asAccountId('MA_A'),
  host = 'a.example',
): void =>
  client.notify({
    accountId: account,
    subject: call,
    event,
    target: { url: `https://${host}/${event}`, method: 'POST' },
    parameters: [['Event', event]],
  });
const called = (): string[] =>
  http.requests.map(({ request }) => request.url.replace('https://', ''));

describe('notifications while the store is unavailable', () => {
  it('are delivered with the cached token for a known account', async () => {
    notify('Ring');
    await clock.advance(1000);
    storeIsAway = true;
    notify('Hangup');
    await clock.advance(1000);
    expect(called()).toEqual(['a.example/Ring', 'a.example/Hangup']);
    const [, hangup] = http.requests;
    expect(Object.keys(hangup?.request.headers ?? {}).join()).toContain('Signature');
  });

  it('wait for the store if the account is unknown', async () => {
    storeIsAway = true;
    notify('Hangup');
    await clock.advance(600_000);
    expect(called()).toEqual([]);
    storeIsAway = false;
    await clock.advance(2000);
    expect(called()).toEqual(['a.example/Hangup']);
    expect(store.rows.size).toBe(0);
  });

  it('stay in the store when the service stops', async () => {
    storeIsAway = true;
    notify('Hangup');
    const closed = client.close(1000);
    await clock.advance(2000);
    await closed;
    storeIsAway = false;
    await clock.advance(10_000);
    expect(called()).toEqual([]);
    expect(store.rows.size).toBe(1);
  });
});

describe('order of notifications', () => {
  it('delivers the notifications of one call sequentially', async () => {
    http.delayMs = 100;
    for (const event of ['Ring', 'StartStream', 'Hangup']) notify(event);
    await clock.advance(150);
    expect(called()).toEqual(['a.example/Ring', 'a.example/StartStream']);
    await clock.advance(1000);
    expect(called()).toEqual(['a.example/Ring', 'a.example/StartStream', 'a.example/Hangup']);
    expect(http.maxRunning).toBe(1);
  });

  it('keeps the order while an earlier one is retried', async () => {
    http.reply = (request, count) => (request.url.endsWith('Ring') && count < 3 ? 500 : 200);
    notify('Ring');
    notify('Hangup');
    await clock.advance(10_000);
    expect(called()).toEqual([
      'a.example/Ring',
      'a.example/Ring',
      'a.example/Ring',
      'a.example/Hangup',
    ]);
  });

  it('delivers one stored with the settlement after earlier ones', async () => {
    http.delayMs = 50;
    notify('Ring');
    client.notifyStored({
      id: 'n1',
      accountId: asAccountId('MA_A'),
      subject: 'c1',
      event: 'Hangup',
      target: { url: 'https://a.example/Hangup', method: 'POST' },
      parameters: [],
      createdUs: wallUs(clock),
      attempts: 0,
    });
    await clock.advance(1000);
    expect(called()).toEqual(['a.example/Ring', 'a.example/Hangup']);
  });

  it('delivers one only once that was already loaded from the store', async () => {
    const notification = {
      id: 'n1',
      accountId: asAccountId('MA_A'),
      subject: 'c1',
      event: 'RecordStop',
      target: { url: 'https://a.example/RecordStop', method: 'POST' },
      parameters: [],
      createdUs: wallUs(clock),
      attempts: 0,
    } as const;
    http.delayMs = 50;
    store.rows.set('n1', notification);
    expect(await client.resume()).toBe(1);
    client.notifyStored(notification);
    await clock.advance(1000);
    expect(called()).toEqual(['a.example/RecordStop']);
    // The store confirmed the write late; the notification is already delivered.
    client.notifyStored(notification);
    await clock.advance(1000);
    expect(called()).toEqual(['a.example/RecordStop']);
  });

  it('delivers one that was stored although the answer to its commit is lost', async () => {
    store.rows.set('n1', {
      id: 'n1',
      accountId: asAccountId('MA_A'),
      subject: 'c1',
      event: 'RecordStop',
      target: { url: 'https://a.example/RecordStop', method: 'POST' },
      parameters: [],
      createdUs: wallUs(clock),
      attempts: 0,
    });
    store.broken = true;
    client.lookAgain();
    await clock.advance(6000);
    expect(called()).toEqual([]);
    store.broken = false;
    client.lookAgain();
    await clock.advance(10_000);
    expect(called()).toEqual(['a.example/RecordStop']);
    expect(store.rows.size).toBe(0);
  });

  it('does not delay other calls', async () => {
    http.reply = (request) => (request.url.includes('slow') ? 'silence' : 200);
    notify('Ring', 'c1', asAccountId('MA_A'), 'slow.example');
    notify('Ring', 'c2');
    await clock.advance(10);
    expect(store.rows.size).toBe(1);
    expect(called()).toHaveLength(2);
  });
});

describe('notifications that are JSON documents (dialect §3.11)', () => {
  const json = '{"event":"campaign.started","campaign_id":"k1","max_concurrent":3}';
  const notify = (id: string, text = json): void =>
    client.notifyStored({
      id,
      accountId: asAccountId('MA_A'),
      subject: 'k1',
      event: 'campaign.started',
      target: { url: 'https://a.example/told', method: 'POST' },
      parameters: [],
      json: text,
      createdUs: wallUs(clock),
      attempts: 0,
    });

  it('are sent byte for byte and signed over the body only', async () => {
    notify('n1');
    await clock.advance(10);
    const [sent] = http.requests;
    expect(sent?.request.body).toBe(json);
    expect(sent?.request.headers).toMatchObject({
      'Content-Type': 'application/json',
      // openssl dgst -sha256 -hmac token
      'X-VoBiz-Signature':
        'sha256=0720b438460e62fb6853ed025a603413ac392b2d222acda487a7e19726e3ffa9',
    });
    expect(Object.keys(sent?.request.headers ?? {}).join()).not.toContain('Plivo');
  });

  it('are tried at 0, 5 and 30 s; later ones of the same campaign wait', async () => {
    http.reply = (_, count) => (count <= 3 ? 503 : 200);
    notify('n1');
    notify('n2', '{"event":"campaign.paused"}');
    await clock.advance(60_000);
    expect(http.requests.map(({ atMs }) => atMs)).toEqual([0, 5000, 30_000, 30_000]);
    expect(http.requests.at(-1)?.request.body).toContain('paused');
  });
});

describe('a failing notify_url', () => {
  const ACCOUNT = asAccountId('MA_A');
  let reported = 0;
  const notify = (campaign: string, host: string): void => {
    reported += 1;
    const notification: StoredNotification = {
      id: `n${reported}`,
      accountId: ACCOUNT,
      subject: campaign,
      event: 'contact.answered',
      target: { url: `https://${host}/${campaign}`, method: 'POST' },
      parameters: [],
      json: `{"n":${reported}}`,
      createdUs: wallUs(clock),
      attempts: 0,
    };
    store.rows.set(notification.id, notification);
    client.notifyStored(notification);
  };

  it('builds up no backlog and does not delay calls or other campaigns of the account', async () => {
    http.reply = (request) => (request.url.includes('dead') ? 'silence' : 200);
    let most = 0;
    for (let second = 0; second < 900; second += 1) {
      for (let i = 0; i < 20; i += 1) notify('dead', 'dead.example');
      notify('live', 'live.example');
      notify('Hangup', `call-${second}`);
      await clock.advance(1000);
      most = Math.max(most, store.rows.size);
      expect([...store.rows.values()].every(({ subject }) => subject === 'dead')).toBe(true);
    }
    expect(called().filter((url) => url.startsWith('live'))).toHaveLength(900);
    // Fewer than six minutes' worth, however long the outage.
    expect(most).toBeLessThan(360 * 20);
    expect(client.queued()).toBeLessThanOrEqual(MAX_QUEUED_PER_CAMPAIGN);
  });

  it('receives after an outage of less than five minutes, in order, all but those with three failed attempts', async () => {
    http.reply = () => 503;
    const first = reported + 1;
    for (let i = 0; i < 500; i += 1) notify('k1', 'a.example');
    await clock.advance(32_000);
    http.reply = () => 200;
    const tried = http.requests.length;
    await clock.advance(10_000);
    expect(store.rows.size).toBe(0);
    const bodies = http.requests.slice(tried).map(({ request }) => request.body);
    expect(bodies).toEqual(Array.from({ length: 499 }, (_, i) => `{"n":${first + 1 + i}}`));
  });

  it('receives the rest from the store after the store could not be read', async () => {
    const listPending = store.listPending.bind(store);
    store.listPending = () => Promise.reject(new ServiceError('STORE_BUSY', 'busy'));
    for (let i = 0; i < MAX_QUEUED_PER_CAMPAIGN + 100; i += 1) notify('k1', 'a.example');
    await clock.advance(5000);
    expect(store.rows.size).toBe(100);
    store.listPending = listPending;
    await clock.advance(5000);
    expect(store.rows.size).toBe(0);
  });
});

describe('delivery of notifications', () => {
  it('stay in the store until acknowledged by a 2xx', async () => {
    http.delayMs = 100;
    http.reply = () => 204;
    notify('Ring');
    await clock.advance(50);
    expect([...store.rows.values()]).toMatchObject([{ event: 'Ring', subject: 'c1', attempts: 0 }]);
    await clock.advance(100);
    expect(store.rows.size).toBe(0);
    expect(attempted).toEqual(['Ring 204']);
  });

  it('are retried after 0.5, 1 and 2 s and then abandoned', async () => {
    http.reply = () => 503;
    notify('Ring');
    await clock.advance(3499);
    expect(store.rows.size).toBe(1);
    expect([...store.rows.values()][0]?.attempts).toBe(3);
    await clock.advance(60_000);
    expect(http.requests.map(({ atMs }) => atMs)).toEqual([0, 500, 1500, 3500]);
    expect(store.rows.size).toBe(0);
  });

  it('wait 5 s for a response', async () => {
    notify('Ring');
    await clock.advance(10);
    expect(http.requests[0]?.request.readTimeoutMs).toBe(5000);
  });

  it('are not retried after a 4xx (dialect §6), unless the URL option requests it', async () => {
    http.reply = () => 404;
    notify('Ring');
    await clock.advance(10_000);
    expect(http.requests).toHaveLength(1);
    expect(store.rows.size).toBe(0);
    client.notify({
      accountId: asAccountId('MA_A'),
      subject: 'c1',
      event: 'Hangup',
      target: { url: 'https://a.example/#rp=4xx&rc=1', method: 'POST' },
      parameters: [],
    });
    await clock.advance(10_000);
    expect(http.requests).toHaveLength(3);
  });

  it('are abandoned without a request if the URL is invalid', async () => {
    client.notify({
      accountId: asAccountId('MA_A'),
      subject: 'c1',
      event: 'Ring',
      target: { url: 'nonsense', method: 'POST' },
      parameters: [],
    });
    await clock.advance(1000);
    expect(http.requests).toHaveLength(0);
    expect(store.rows.size).toBe(0);
  });

  it('are delivered even if the store has failed', async () => {
    store.broken = true;
    notify('Ring');
    notify('Hangup');
    await clock.advance(1000);
    expect(called()).toEqual(['a.example/Ring', 'a.example/Hangup']);
    expect(client.queued()).toBe(0);
  });
});

describe('notifications after a restart', () => {
  it('delivers unacknowledged ones in the next process, in order, with the remaining attempts', async () => {
    http.reply = () => 500;
    notify('Ring');
    notify('Hangup');
    await clock.advance(600);
    expect(http.requests).toHaveLength(2);
    const closing = client.close(0);
    await clock.advance(100_000);
    await closing;
    expect(http.requests).toHaveLength(2);

    client = start();
    const resumed = client.resume();
    await clock.advance(100_000);
    expect(await resumed).toBe(2);
    expect(called().slice(2)).toEqual([
      'a.example/Ring',
      'a.example/Ring',
      'a.example/Hangup',
      'a.example/Hangup',
      'a.example/Hangup',
      'a.example/Hangup',
    ]);
    expect(store.rows.size).toBe(0);
  });

  it('abandons one that is older than a day', async () => {
    http.reply = () => 'silence';
    notify('Ring');
    await clock.advance(10);
    await Promise.all([client.close(0), clock.advance(1)]);
    await clock.advance(25 * 3_600_000);
    client = start();
    void client.resume();
    await clock.advance(1000);
    expect(http.requests).toHaveLength(1);
    expect(store.rows.size).toBe(0);
  });

  it('does not treat a notification as old after a forward clock change', async () => {
    notify('Ring');
    clock.stepWall(30 * 24 * 3_600_000);
    await clock.advance(10);
    expect(http.requests).toHaveLength(1);
  });

  it('waits on close for deliveries in progress, up to the limit', async () => {
    http.delayMs = 300;
    notify('Ring');
    let closed = false;
    void client.close(1000).then(() => {
      closed = true;
    });
    await clock.advance(299);
    expect(closed).toBe(false);
    await clock.advance(10);
    expect(closed).toBe(true);
    expect(store.rows.size).toBe(0);
  });
});

describe('notifications whose removal is not committed', () => {
  it('do not delay the next one of their subject, and close waits for the commit', async () => {
    const commit = Promise.withResolvers<void>();
    store.commit = commit.promise;
    for (let i = 0; i < 5; i += 1) notify(`e${i}`);
    await clock.advance(10);
    expect(called()).toEqual([0, 1, 2, 3, 4].map((i) => `a.example/e${i}`));
    expect(store.rows.size).toBe(5);
    let closed = false;
    void client.close(1000).then(() => {
      closed = true;
    });
    await clock.advance(10);
    expect(closed).toBe(false);
    commit.resolve();
    await clock.advance(10);
    expect(closed).toBe(true);
    expect(store.rows.size).toBe(0);
  });

  it('are delivered again in order by the next process after a crash', async () => {
    store.commit = new Promise(() => undefined);
    for (let i = 0; i < 3; i += 1) notify(`e${i}`);
    await clock.advance(10);
    client = start();
    await client.resume();
    await clock.advance(10);
    expect(called()).toEqual([0, 1, 2, 0, 1, 2].map((i) => `a.example/e${i}`));
  });

  it('are limited; beyond the limit, a delivery waits for its own commit', async () => {
    const commit = Promise.withResolvers<void>();
    store.commit = commit.promise;
    const total = 1200;
    for (let i = 0; i < total; i += 1) notify(`e${i}`, 'c1', asAccountId(`MA_${i % 2}`));
    await clock.advance(100);
    // One more per account is in progress until the store commits.
    expect(http.requests.length).toBeLessThanOrEqual(1001);
    commit.resolve();
    await clock.advance(100);
    expect(http.requests).toHaveLength(total);
    expect(store.rows.size).toBe(0);
  });
});

describe('limits of notifications', () => {
  it("limits the deliveries to one customer's failing server and does not delay others", async () => {
    http.reply = (request) => (request.url.includes('dead') ? 'silence' : 200);
    for (let i = 0; i < 500; i += 1)
      notify('Ring', `dead-${i}`, asAccountId('MA_DEAD'), 'dead.example');
    for (let i = 0; i < 10; i += 1) notify('Ring', `live-${i}`, asAccountId('MA_LIVE'));
    await clock.advance(10);
    expect(called().filter((url) => url.startsWith('a.'))).toHaveLength(10);
    expect(http.running).toBe(32);
  });

  it("keeps notifications above the account's limit in the store and delivers all in order", async () => {
    http.delayMs = 1;
    const total = MAX_QUEUED_PER_ACCOUNT * 3;
    for (let i = 0; i < total; i += 1) notify(`e${i}`, `call-${i % 50}`);
    expect(client.queued()).toBe(MAX_QUEUED_PER_ACCOUNT);
    // Add more while the lane is being refilled.
    await clock.advance(20);
    for (let i = total; i < total + 50; i += 1) notify(`e${i}`, `call-${i % 50}`);
    for (let i = 0; i < 40 && store.rows.size > 0; i += 1) await clock.advance(20);
    expect(store.rows.size).toBe(0);
    expect(client.queued()).toBe(0);
    const numbers = called().map((url) => Number(url.replace('a.example/e', '')));
    expect(numbers).toHaveLength(total + 50);
    for (let call = 0; call < 50; call += 1) {
      const ofCall = numbers.filter((number) => number % 50 === call);
      expect(ofCall).toEqual([...ofCall].sort((a, b) => a - b));
    }
  });
});
