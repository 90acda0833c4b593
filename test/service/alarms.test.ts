import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Mail } from '../../src/base/mailer.ts';
import { micros } from '../../src/base/money.ts';
import { type AlarmParts, Alarms } from '../../src/service/alarms.ts';
import { type OpenedStore, openInMemory } from '../edge/store/open.ts';
import { aCdr } from '../edge/store/records.ts';
import { eventually } from '../eventually.ts';

const DAY_MS = 86_400_000;
const TLS = join(import.meta.dirname, '../edge/stream/tls');
let opened: OpenedStore;
let mails: Mail[];
let posts: { readonly body: string; readonly signature: string }[];
let statuses: number[];
let reachable: boolean;
beforeEach(async () => {
  opened = await openInMemory();
  await opened.store.nodes.begin('n1', true);
  mails = [];
  posts = [];
  statuses = [];
  reachable = true;
});
afterEach(() => opened.store.close());

const alarmsWith = (over: Partial<AlarmParts> = {}) =>
  new Alarms({
    settings: {
      email: 'noc@example.com',
      webhookUrl: 'https://noc.example/hook',
      webhookSecret: 'key',
      answerRatioPercent: 0,
      spendFactor: 5,
      spendFloor: 1,
      everyMs: 15_000,
      carrierDownMs: 60_000,
      clearMs: 900_000,
    },
    nodeId: 'n1',
    node: 'voice.test',
    dataDir: '/tmp',
    certificates: {},
    carriers: () => [{ name: 'main', reachable, lastStatus: 503 }],
    ledger: { daily: async () => [] },
    marks: opened.store.settings,
    records: opened.store.as({ id: 'n1', epoch: 1 }).alarms,
    mailer: {
      send: async (mail) => {
        mails.push(mail);
      },
    },
    clock: opened.clock,
    logger: silentLogger,
    post: async (_url, body, signature) => {
      posts.push({ body, signature });
      return statuses.shift() ?? 200;
    },
    ...over,
  });

async function pass(alarms: Alarms, ms: number): Promise<void> {
  await opened.clock.advance(ms);
  alarms.look();
}
const PAGE = { limit: 10, offset: 0 };
const until = (what: string, isSo: () => boolean) => eventually(what, () => isSo() || undefined);

describe('alarms for the operator', () => {
  it('are sent by e-mail and signed webhook when a carrier is down, and when it is back', async () => {
    const alarms = alarmsWith();
    reachable = false;
    alarms.look();
    await pass(alarms, 60_000);
    await until('a mail', () => mails.length === 1 && posts.length === 1);
    expect(mails[0]).toMatchObject({
      to: 'noc@example.com',
      subject: '[voice.test] carrier_down raised main',
      text: expect.stringContaining('the carrier does not answer OPTIONS (last status 503)'),
    });
    const [{ body, signature } = { body: '', signature: '' }] = posts;
    expect(signature).toBe(createHmac('sha256', 'key').update(body).digest('hex'));
    expect(JSON.parse(body)).toEqual({
      event: 'alarm',
      node: 'voice.test',
      alarms: [
        {
          state: 'raised',
          kind: 'carrier_down',
          subject: 'main',
          detail: expect.any(String),
          since: '2026-01-01T00:01:00.000000Z',
        },
      ],
    });
    expect(alarms.counts()).toMatchObject({ carrier_down: 1, disk: 0 });
    reachable = true;
    await pass(alarms, 16 * 60_000);
    await until('a second mail', () => mails.length === 2);
    expect(mails[1]?.subject).toBe('[voice.test] carrier_down cleared main');
    expect(alarms.list()).toEqual([]);
  });

  it('are not sent again after a restart, but their end is', async () => {
    const first = alarmsWith();
    reachable = false;
    first.look();
    await pass(first, 60_000);
    await until('a mail', () => mails.length === 1);
    await first.stop();
    const second = alarmsWith();
    await second.start();
    await opened.clock.advance(120_000);
    expect(mails).toHaveLength(1);
    expect(second.list()).toMatchObject([{ kind: 'carrier_down', subject: 'main' }]);
    reachable = true;
    await pass(second, 16 * 60_000);
    await until('its end', () => mails.length === 2);
    await second.stop();
    expect(mails[1]?.subject).toBe('[voice.test] carrier_down cleared main');
  });

  it('keep their acknowledgement over a restart, and are in the history after their end', async () => {
    const first = alarmsWith();
    reachable = false;
    first.look();
    await pass(first, 60_000);
    const down = { kind: 'carrier_down', subject: 'main' };
    expect(await first.acknowledge({ ...down, subject: 'other' }, 'ada')).toBe(false);
    expect(await first.acknowledge(down, 'ada')).toBe(true);
    expect(await first.acknowledge(down, 'bob')).toBe(true);
    await first.stop();
    const second = alarmsWith();
    await second.start();
    expect(await second.active()).toMatchObject([
      { ...down, nodeId: 'n1', acknowledgedBy: 'ada', clearedUs: undefined },
    ]);
    reachable = true;
    await pass(second, 16 * 60_000);
    await second.stop();
    expect(await second.active()).toEqual([]);
    const { items } = await opened.store.alarms.ended({}, PAGE);
    expect(items).toMatchObject([
      { ...down, acknowledgedBy: 'ada', clearedUs: expect.any(Number) },
    ]);
  });

  it('of another live node are listed and can be acknowledged', async () => {
    await opened.store.nodes.begin('n2', false);
    const alarms = alarmsWith();
    const other = {
      kind: 'disk',
      subject: '/data',
      detail: 'full',
      sinceUs: 5,
      nodeId: 'n2',
    } as const;
    const isActive = { clearedUs: undefined, acknowledgedUs: undefined, acknowledgedBy: undefined };
    await opened.store.alarms.put([{ ...other, ...isActive }]);
    expect(await alarms.active()).toMatchObject([other]);
    expect(await alarms.acknowledge({ ...other, nodeId: 'n1' }, 'ada')).toBe(false);
    expect(await alarms.acknowledge(other, 'ada')).toBe(true);
    expect(await alarms.active()).toMatchObject([{ ...other, acknowledgedBy: 'ada' }]);
    await opened.store.nodes.leave({ id: 'n2', epoch: 1 });
    expect(await alarms.active()).toEqual([]);
  });

  it('of an earlier version are restored from its setting', async () => {
    const reported = { kind: 'carrier_down', subject: 'main', detail: 'down', sinceUs: 7 };
    await opened.store.settings.set('alarm.raised.n1', JSON.stringify([reported]));
    const alarms = alarmsWith();
    await alarms.start();
    await alarms.stop();
    expect(await alarms.active()).toMatchObject([{ ...reported, nodeId: 'n1' }]);
    expect(await opened.store.settings.get('alarm.raised.n1')).toBe('[]');
  });

  it('are sent by a webhook on the third attempt, and abandoned if it keeps failing', async () => {
    const alarms = alarmsWith();
    reachable = false;
    statuses = [500, 503];
    alarms.look();
    await pass(alarms, 60_000);
    await until('a post', () => posts.length === 1);
    await opened.clock.advance(2000);
    await until('a second post', () => posts.length === 2);
    await opened.clock.advance(4000);
    await until('a third post', () => posts.length === 3);
    await alarms.stop();
    expect(posts).toHaveLength(3);
  });

  it('do not delay a stop if the webhook never answers; the next start sends them', async () => {
    const stopped: unknown[] = [];
    const hanging = alarmsWith({
      post: (_url, _body, _signature, stop) =>
        new Promise((_, reject) => {
          stop.addEventListener('abort', () => {
            stopped.push(stop.reason);
            reject(stop.reason);
          });
        }),
    });
    reachable = false;
    hanging.look();
    await pass(hanging, 60_000);
    reachable = true;
    await pass(hanging, 16 * 60_000);
    let isStopped = false;
    const stop = hanging.stop().then(() => {
      isStopped = true;
    });
    await opened.clock.advance(4999);
    expect(isStopped).toBe(false);
    await opened.clock.advance(1);
    await stop;
    await until('the end of the request', () => stopped.length === 1);
    reachable = false;
    const next = alarmsWith();
    await next.start();
    await opened.clock.advance(60_000);
    await until('a post', () => posts.length === 1);
    await next.stop();
    expect(await opened.store.alarms.active()).toMatchObject([{ kind: 'carrier_down' }]);
  });

  it('are raised for an expiring certificate, based on the file in use', async () => {
    const alarms = alarmsWith({
      certificates: { 'http.tlsCertFile': join(TLS, 'expired.pem'), 'sip.tlsCertFile': '' },
    });
    const ends = Date.UTC(2026, 10, 20, 9, 44, 56);
    expect(alarms.certificates()).toEqual([{ setting: 'http.tlsCertFile', endsMs: ends }]);
    opened.clock.stepWall(ends - opened.clock.wallMs() - 10 * DAY_MS);
    alarms.look();
    expect(alarms.list()).toMatchObject([
      {
        kind: 'certificate',
        subject: 'http.tlsCertFile',
        detail: 'the certificate expires in 10 days',
      },
    ]);
    opened.clock.stepWall(11 * DAY_MS);
    alarms.look();
    expect(alarms.list()).toMatchObject([{ detail: 'the certificate has expired' }]);
  });
});

describe('spending', () => {
  const accountId = asAccountId('MA_A');
  const call = (to: string) =>
    aCdr({
      accountId,
      direction: 'outbound',
      to,
      cost: micros(4_000_000),
      streamingCost: micros(0),
    });

  it('is compared with the days before', async () => {
    const day = Math.floor(opened.clock.wallMs() / DAY_MS);
    const total = { currency: 'USD', referenceType: 'cdr', count: 1, credit: micros(0) };
    const daily = async () =>
      [1, 2, 3].map((ago) => ({ ...total, day: day - ago, debit: micros(12_000_000) }));
    const alarms = alarmsWith({ ledger: { daily } });
    alarms.observe(call('14155550100'));
    alarms.look();
    await until('the alarm', () => {
      alarms.look();
      return alarms.list().length === 1;
    });
    expect(alarms.list()).toMatchObject([
      { kind: 'spend', subject: 'MA_A', detail: '4.00 spent within an hour; usual: 0.50' },
    ]);
  });

  it('in a country that the account never called raises an alarm, also after a restart', async () => {
    const first = alarmsWith();
    first.observe(call('14155550100'));
    const known = () => opened.store.settings.get('alarm.countries.MA_A');
    await eventually('the stored countries', known);
    await opened.clock.advance(2 * DAY_MS);
    const second = alarmsWith();
    second.observe(call('14155550101'));
    second.observe(call('5355550100'));
    await until('the alarm', () => {
      second.look();
      return second.list().length === 1;
    });
    expect(second.list()).toMatchObject([
      {
        kind: 'new_country',
        subject: 'MA_A CU',
        detail: expect.stringContaining('first call to CU'),
      },
    ]);
  });

  it('reports a low balance, and its return above the threshold', async () => {
    let isLow = true;
    const alarms = alarmsWith({ isLow: async () => isLow });
    const accountId = asAccountId('MA_POOR');
    alarms.lowBalance({
      id: 1,
      balanceId: 'b',
      accountId,
      currency: 'USD',
      fallenUs: 0,
      available: micros(1_500_000),
      threshold: micros(5_000_000),
    });
    alarms.look();
    expect(alarms.list()).toMatchObject([
      { kind: 'low_balance', subject: 'MA_POOR USD', detail: '1.5 USD available, threshold 5' },
    ]);
    isLow = false;
    await pass(alarms, 15_000);
    await pass(alarms, 16 * 60_000);
    expect(alarms.list()).toEqual([]);
  });
});

it('conditions of the node, a spool and a backlog of recordings are alarms', () => {
  const alarms = alarmsWith({
    conditions: () => [{ condition: 'redis', cause: 'Redis does not answer' }],
    spooled: () => 3,
    offloadWaiting: () => 1001,
  });
  alarms.look();
  expect(alarms.list()).toMatchObject([
    { kind: 'not_serving', subject: 'redis', detail: 'Redis does not answer' },
    { kind: 'spool', detail: '3 units wait for PostgreSQL' },
    { kind: 'object_backlog', detail: '1001 recordings wait' },
  ]);
});
