/** Limits for unauthenticated peers, and their effect on authenticated ones. */

import { describe, expect, it } from 'vitest';
import {
  answerChallenge,
  strongestChallenge,
} from '../../../src/protocol/sip/auth/answer-challenge.ts';
import { parseAuth } from '../../../src/protocol/sip/header/auth.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import type { UserAgentOutput } from '../../../src/protocol/sip/user-agent-types.ts';
import { OFFER, REALM, seededRandom, World } from './world.ts';

const SERVER = '192.0.2.1';
const PHONE = '192.0.2.9';
const PASSWORD = 'wonderland';

type Send = Extract<UserAgentOutput, { kind: 'send' }>;

interface Request {
  readonly method?: string;
  readonly cseq?: number;
  readonly via?: string;
  readonly more?: readonly string[];
  readonly body?: string;
}

/** A server without a network: its outputs for one message, and later ones. */
function setup() {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM });
  server.users.set('alice', PASSWORD);
  const flow = (address = PHONE, port = 5060, connectionId?: number): Flow => ({
    transport: connectionId === undefined ? 'udp' : 'tcp',
    localAddress: SERVER,
    localPort: 5060,
    remoteAddress: address,
    remotePort: port,
    connectionId,
  });
  const hear = (text: string, from = flow()): readonly Send[] =>
    server.ua
      .handle({ kind: 'received', bytes: Buffer.from(text), flow: from }, world.nowMs)
      .filter((output) => output.kind === 'send');
  return { world, server, flow, hear };
}

function text({ method = 'INVITE', cseq = 1, via = PHONE, more = [], body }: Request = {}): string {
  const content = body ?? (method === 'INVITE' ? OFFER : '');
  return [
    `${method} sip:100@${SERVER} SIP/2.0`,
    `Via: SIP/2.0/UDP ${via};branch=z9hG4bK${method}${cseq};rport`,
    'Max-Forwards: 70',
    `From: <sip:alice@${SERVER}>;tag=peer`,
    `To: <sip:alice@${SERVER}>`,
    'Call-ID: unknown-1',
    `CSeq: ${cseq} ${method}`,
    `Contact: <sip:alice@${PHONE}>`,
    ...(content === '' ? [] : ['Content-Type: application/sdp']),
    ...more,
    `Content-Length: ${content.length}`,
    '',
    content,
  ].join('\r\n');
}

function authorization(challenged: Send | undefined, method: string, password = PASSWORD, nc = 1) {
  const challenges = (challenged?.message.headers('WWW-Authenticate') ?? [])
    .map(parseAuth)
    .filter((challenge) => challenge !== undefined);
  const challenge = strongestChallenge(challenges);
  if (challenge === undefined) throw new Error('no challenge');
  const account = { username: 'alice', password };
  const request = { method, uri: `sip:100@${SERVER}` };
  return `Authorization: ${answerChallenge(challenge, account, request, nc, seededRandom())}`;
}

const statusOf = (sent: readonly Send[]): (number | string)[] =>
  sent.map(({ message }) => (message.kind === 'response' ? message.status : message.method));

describe('a request without credentials', () => {
  it.each(['INVITE', 'REGISTER'])('%s gets one 401, and no state is kept', (method) => {
    const { world, server, hear } = setup();
    expect(statusOf(hear(text({ method })))).toEqual([401]);
    expect(server.ua.transactions).toBe(0);
    expect(server.ua.deadlineMs()).toBeUndefined();
    world.nowMs += 40_000;
    expect(server.ua.expire(world.nowMs)).toEqual([]);
    expect(hear(text({ method: 'ACK' }))).toEqual([]);
  });

  it.each(['OPTIONS', 'BYE', 'MESSAGE', 'CANCEL', 'INFO'])('%s leaves no state', (method) => {
    const { server, hear } = setup();
    expect(hear(text({ method }))).toHaveLength(1);
    expect(server.ua.transactions).toBe(0);
  });

  it('gets the same To tag for its retransmission (RFC 3261 §8.2.7)', () => {
    const { hear } = setup();
    const tags = [hear(text()), hear(text())].map(([sent]) => sent?.message.toOrUndefined?.tag);
    expect(tags[0]).toBeDefined();
    expect(tags[0]).toBe(tags[1]);
  });

  it('is answered at its source, whatever its Via contains', () => {
    const { hear, flow } = setup();
    const [sent] = hear(text({ via: '198.51.100.1:9999;maddr=198.51.100.2' }));
    expect(sent?.flow).toEqual(flow());
  });
});

describe('responses over UDP to unauthenticated peers', () => {
  const shorts = [
    text(),
    text({ method: 'REGISTER' }),
    text({ method: 'OPTIONS' }),
    `OPTIONS sip:a SIP/2.0\r\nVia: SIP/2.0/UDP h;rport\r\nFrom: <sip:a>;tag=1\r\nTo: <sip:b>\r\nCall-ID: c\r\nCSeq: 1 OPTIONS\r\n\r\n`,
    `INVITE sip:a SIP/2.0\r\nVia: SIP/2.0/UDP h;rport\r\nFrom: <sip:a>;tag=1\r\nTo: <sip:b>\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\n\r\n`,
    'INVITE sip:a SIP/3.0\r\nv:SIP/2.0/UDP h\r\n\r\n',
    'A b\r\nv:SIP/2.0/UDP h\r\n\r\n',
  ];
  it.each(shorts)('have at most 1.5 times the size of the request (%#)', (request) => {
    const { hear } = setup();
    let came = 0;
    let went = 0;
    for (let i = 0; i < 6; i += 1) {
      came += request.length;
      for (const { bytes } of hear(request)) went += bytes.length;
      expect(went / came).toBeLessThanOrEqual(1.5);
    }
  });

  it('are unlimited for a carrier and for contacted peers', () => {
    const terse = shorts[3] ?? '';
    const carrier = new World().agent(SERVER, { realm: REALM, trustedSource: () => 'main' });
    const received = { kind: 'received', bytes: Buffer.from(terse), flow: setup().flow() } as const;
    const [sent] = carrier.ua.handle(received, 0).filter(({ kind }) => kind === 'send');
    expect(sent?.kind === 'send' && sent.message.header('Allow-Events')).toContain('dialog');
  });

  it('reach a client with short requests when it retransmits', () => {
    const { hear } = setup();
    const terse = text({ method: 'REGISTER' }).replace(/^(Max-Forwards|Contact).*\r\n/gm, '');
    const tries = Array.from({ length: 4 }, () => hear(terse.replace(`@${SERVER}`, '@h')));
    expect(statusOf(tries.flat())).toContain(401);
  });

  it('keep the first challenge and drop the others; over TCP they are complete', () => {
    const { hear, flow } = setup();
    const challenges = (sent: readonly Send[]): number =>
      sent[0]?.message.headers('WWW-Authenticate').length ?? 0;
    expect(challenges(hear(text({ method: 'REGISTER' })))).toBe(1);
    expect(challenges(hear(text({ method: 'REGISTER' }), flow(PHONE, 5060, 7)))).toBe(3);
  });
});

describe('digest', () => {
  const register = (more: string, cseq: number): string =>
    text({ method: 'REGISTER', cseq, more: [more] });
  /** Delivers a request to the server and runs all resulting events. */
  const exchange = ({ world, server }: ReturnType<typeof setup>, message: string, from: Flow) => {
    const before = world.sent.length;
    server.receive(Buffer.from(message), from);
    world.advance(10);
    return world.sent
      .slice(before)
      .flatMap(({ message: m }) => (m.kind === 'response' ? [m.status] : []));
  };

  it('does not lock a source out for failures with a nonce that was not sent to it', () => {
    const rig = setup();
    const { hear, flow } = rig;
    const [elsewhere] = hear(text({ method: 'REGISTER' }), flow('203.0.113.5'));
    const stolen = authorization(elsewhere, 'REGISTER', 'guess');
    const forged = stolen.replace(/nonce="[^"]*"/, 'nonce="forged"');
    for (let n = 2; n < 102; n += 1) {
      const credentials = n % 2 === 0 ? stolen : forged;
      expect(exchange(rig, register(credentials, n), flow())).toEqual([401]);
    }
    const [challenged] = hear(text({ method: 'REGISTER', cseq: 200 }));
    expect(exchange(rig, register(authorization(challenged, 'REGISTER'), 201), flow())).toEqual([
      200,
    ]);
  });

  it('reports a nonce of another source, or an old one, as stale, so the client retries automatically', () => {
    const { world, hear, flow } = setup();
    const [challenged] = hear(text({ method: 'REGISTER' }));
    const credentials = authorization(challenged, 'REGISTER');
    const stale = (sent: readonly Send[]): string =>
      sent[0]?.message.header('WWW-Authenticate') ?? '';
    expect(stale(hear(register(credentials, 2), flow('203.0.113.5')))).toContain('stale=true');
    world.nowMs += 301_000;
    expect(stale(hear(register(credentials, 3)))).toContain('stale=true');
  });

  it('does not lock out a registered phone for guesses of a neighbour behind the same address', () => {
    const rig = setup();
    const { hear, flow } = rig;
    const [challenged] = hear(text({ method: 'REGISTER' }));
    const right = (cseq: number, nc: number): string =>
      register(authorization(challenged, 'REGISTER', PASSWORD, nc), cseq);
    expect(exchange(rig, right(2, 1), flow())).toEqual([200]);
    for (let n = 3; n < 103; n += 1) {
      const guess = register(authorization(challenged, 'REGISTER', `guess${n}`), n);
      const statuses = exchange(rig, guess, flow(PHONE, 6000 + (n % 20)));
      expect([[401], [403], [503]]).toContainEqual(statuses);
    }
    expect(exchange(rig, right(200, 2), flow())).toEqual([200]);
  });

  it('challenges a call with a replayed nonce count again, over TCP too', () => {
    const rig = setup();
    const { hear, flow } = rig;
    const from = flow(PHONE, 5060, 7);
    const [challenged] = hear(text(), from);
    const call = (cseq: number): string =>
      text({ cseq, more: [authorization(challenged, 'INVITE')] });
    expect(exchange(rig, call(2), from)).toEqual([100]);
    expect(rig.server.count('incoming')).toBe(1);
    expect(exchange(rig, call(3).replace('unknown-1', 'unknown-2'), from)).toContain(401);
    expect(rig.server.count('incoming')).toBe(1);
  });
});
