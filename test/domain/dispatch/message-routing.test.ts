/** Text messages between phones of an account, and to applications. */
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { InboundText, OutboundText, Party } from '../../../src/domain/call/needs.ts';
import type { NotificationDraft } from '../../../src/domain/callback/types.ts';
import { EndpointRate, MessageRouting } from '../../../src/domain/dispatch/dispatch.ts';
import type { MessageRoutingNeeds } from '../../../src/domain/dispatch/message-routing.ts';
import { addressesOf } from '../../addresses.ts';
import { SimClock, settle } from '../../sim/clock.ts';

const HOST = 'voice.test';
const MINE = { authId: 'MA_1', status: 'active', defaultEndpointApp: undefined };
const APP = { appId: 7, accountId: 'MA_1', enabled: true, messageUrl: 'https://site.test/m' };
const ALL = {
  allowVoice: true,
  allowMessage: true,
  allowVideo: false,
  allowSameDomain: true,
  allowOtherDomains: false,
  allowPhones: true,
  allowApps: true,
};

let sent: OutboundText[];
let reported: NotificationDraft[];
let answer: number | undefined;
let flags: Record<string, Partial<typeof ALL>>;
let routing: MessageRouting;

beforeEach(() => {
  sent = [];
  reported = [];
  answer = 200;
  flags = {};
  const clock = new SimClock();
  const phone = (username: string, accountId = 'MA_1') => ({
    username,
    accountId,
    endpointId: username,
    alias: username,
    appId: 7,
    ...ALL,
    ...flags[username],
  });
  routing = new MessageRouting({
    logger: silentLogger,
    random: { bytes: (count: number) => new Uint8Array(count), integer: () => 0 },
    addresses: addressesOf(HOST),
    registrarHost: HOST,
    accounts: { get: async () => MINE, ownerOf: async () => MINE },
    applications: {
      get: async (id: number) =>
        id === 7 || id === 8 ? { ...APP, appId: id, messageMethod: 'POST' } : undefined,
    },
    endpoints: {
      byUsername: async (name: string) => {
        if (name === 'eve') return phone('eve', 'MA_2');
        return ['alice', 'bob', 'off'].includes(name) ? phone(name) : undefined;
      },
    },
    numbers: {
      get: async (e164: string) =>
        e164 === '14155550100'
          ? { e164, accountId: 'MA_1', status: 'active', applicationId: 7 }
          : undefined,
    },
    callbacks: { notify: (draft: NotificationDraft) => reported.push(draft) },
    texting: {
      sendText: async (text: OutboundText) => {
        sent.push(text);
        return answer;
      },
    },
    isRegistered: (name: string) => name !== 'off',
    rate: new EndpointRate(clock, 3),
  } as unknown as MessageRoutingNeeds);
});

const party = (user: string, host = HOST): Party => ({
  uri: `sip:${user}@${host}`,
  user,
  host,
  displayName: '',
});

async function text(to: string, over: Partial<InboundText> = {}) {
  const answers: unknown[] = [];
  routing.accept({
    from: party('alice'),
    to: party(to),
    dialled: to,
    requestUri: `sip:${to}@${HOST}`,
    endpointUsername: 'alice',
    carrier: undefined,
    contentType: 'text/plain',
    body: Buffer.from('hallo'),
    answer: (status, more) => answers.push({ status, ...more }),
    ...over,
  });
  await settle();
  expect(answers).toHaveLength(1);
  return answers[0] as { status: number; why?: string; retryAfterS?: number };
}
const parameters = (): Record<string, string> => Object.fromEntries(reported[0]?.parameters ?? []);

describe('message to a phone', () => {
  it("of the account returns that phone's response", async () => {
    expect(await text('bob')).toEqual({ status: 200 });
    expect(sent).toMatchObject([
      { username: 'bob', from: { user: 'alice', displayName: 'alice' }, contentType: 'text/plain' },
    ]);
    answer = 486;
    expect(await text('bob')).toMatchObject({ status: 486 });
    answer = undefined;
    expect(await text('bob')).toMatchObject({ status: 480 });
  });

  it('that is unavailable returns 480 with an explanation', async () => {
    expect(await text('off')).toEqual({
      status: 480,
      why: `no phone is registered as off@${HOST}`,
    });
    expect(sent).toEqual([]);
  });

  it("of another account goes to the sender's application instead", async () => {
    expect(await text('eve')).toEqual({ status: 202 });
    expect(sent).toEqual([]);
  });
});

describe('message to an application', () => {
  it('is sent for destinations that are not phones of the account, with the normalized number and the text', async () => {
    expect(await text('+1-415-555-0199')).toEqual({ status: 202 });
    expect(reported[0]).toMatchObject({ accountId: 'MA_1', target: { url: APP.messageUrl } });
    expect(parameters()).toMatchObject({
      From: `sip:alice@${HOST}`,
      To: '14155550199',
      Text: 'hallo',
      Event: 'Message',
    });
  });

  it("is sent by its sip_uri, and for a carrier's message to a number", async () => {
    expect(await text('8')).toEqual({ status: 202 });
    const carriers = { endpointUsername: undefined, carrier: 'north', from: party('+14155550177') };
    expect(await text('+14155550100', carriers)).toEqual({ status: 202 });
    expect(Object.fromEntries(reported[1]?.parameters ?? [])).toMatchObject({
      From: '14155550177',
      To: '14155550100',
    });
    expect(await text('+14155550111', carriers)).toMatchObject({ status: 404 });
  });

  it('is not sent for typing notifications', async () => {
    const composing = { contentType: 'application/im-iscomposing+xml' };
    expect(await text('nobody', composing)).toEqual({ status: 200 });
    expect(reported).toEqual([]);
  });
});

describe('refused messages', () => {
  it.each([
    ['allow_message', { alice: { allowMessage: false } }, 'bob'],
    ['allow_message', { bob: { allowMessage: false } }, 'bob'],
    ['allow_same_domain', { alice: { allowSameDomain: false } }, 'bob'],
    ['allow_apps', { alice: { allowApps: false } }, 'nobody'],
  ])('by %s of %j', async (flag, set, to) => {
    flags = set;
    const { status, why } = await text(to);
    expect(status).toBe(403);
    expect(why).toContain(`(${flag})`);
  });

  it('to other domains, unless allowed; no message is sent there', async () => {
    const over = { requestUri: 'sip:bob@far.test' };
    expect(await text('bob', over)).toMatchObject({ status: 403 });
    flags = { alice: { allowOtherDomains: true } };
    expect(await text('bob', over)).toMatchObject({ status: 404 });
  });

  it('above the rate limit: 503 with Retry-After', async () => {
    for (let count = 0; count < 3; count += 1) await text('bob');
    expect(await text('bob')).toMatchObject({ status: 503, retryAfterS: 60 });
  });
});
