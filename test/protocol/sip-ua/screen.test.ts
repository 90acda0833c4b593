import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loopMark } from '../../../src/protocol/sip/dialog/capabilities.ts';
import { invite, PEER, type RequestScript, SERVER, say } from './script.ts';
import { brief, OFFER, REALM, World } from './world.ts';

function setup() {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM, trustedSource: () => 'carrier' });
  const peer = world.peer(PEER);
  const answerTo = (script: RequestScript) => {
    say(peer, script);
    world.advance(20);
    return peer.lastResponse();
  };
  return { world, server, peer, answerTo };
}

describe('unsupported requests (RFC 3261 §8.2)', () => {
  it('answers an unknown method with 405 and Allow', () => {
    const response = setup().answerTo({ method: 'PUBLISH' });
    expect(response.status).toBe(405);
    expect(response.tokens('allow')).toEqual(expect.arrayContaining(['invite', 'register']));
  });

  it('answers an unsupported Request-URI scheme with 416', () => {
    expect(setup().answerTo({ method: 'INVITE', uri: 'mailto:a@b', to: '<sip:a@b>' }).status).toBe(
      416,
    );
  });

  it('answers an unsupported required extension with 420 and its name', () => {
    const response = setup().answerTo({
      method: 'INVITE',
      headers: ['Require: timer, 100rel, foo, precondition'],
    });
    expect(response.status).toBe(420);
    expect(response.list('unsupported')).toEqual(['foo', 'precondition']);
  });

  it('answers an INVITE without Contact with 400, except for RFC 2543 (§8.1.1.8)', () => {
    const response = setup().answerTo({ method: 'INVITE', contact: null });
    expect([response.status, response.reason]).toEqual([400, 'Missing Contact']);
    expect(
      setup().answerTo({ method: 'INVITE', contact: null, branch: 'old', body: OFFER }).status,
    ).toBe(100);
  });

  it('answers OPTIONS with 503 and Retry-After while calls are refused', () => {
    const { server, answerTo } = setup();
    server.dispatch({ kind: 'pause', cause: 'the disk is full' });
    const response = answerTo({ method: 'OPTIONS' });
    expect([response.status, response.header('retry-after')]).toEqual([503, '5']);
  });

  it('answers an unsupported body with 415 and Accept, unless it is optional', () => {
    const { answerTo, world, server, peer } = setup();
    const script = { method: 'INVITE', body: 'hello', headers: ['Content-Type: text/plain'] };
    const response = answerTo(script);
    expect(response.status).toBe(415);
    expect(response.header('accept')).toBe('application/sdp');
    invite(peer, {
      ...script,
      callId: 'b',
      headers: [...script.headers, 'Content-Disposition: x;handling=optional'],
    });
    world.advance(20);
    expect(server.last('incoming').call.sdp).toBeUndefined();
  });

  it('answers an unsupported content encoding with 415 and Accept-Encoding', () => {
    const headers = ['Content-Encoding: gzip', 'Content-Type: application/sdp'];
    const response = setup().answerTo({ method: 'INVITE', body: 'x', headers });
    expect([response.status, response.header('accept-encoding')]).toEqual([415, 'identity']);
  });

  it('answers a caller that accepts no SDP with 406', () => {
    expect(setup().answerTo({ method: 'INVITE', headers: ['Accept: text/plain'] }).status).toBe(
      406,
    );
  });

  it('answers an INVITE without remaining hops with 483; OPTIONS is answered normally (§16.3 step 3)', () => {
    const { answerTo } = setup();
    expect(answerTo({ method: 'INVITE', maxForwards: 0 }).status).toBe(483);
    expect(answerTo({ method: 'OPTIONS', maxForwards: 0, callId: 'o' }).status).toBe(200);
  });

  it('answers our own returning INVITE with 482 for a loop, but not for a spiral (§16.3 step 4)', () => {
    const { answerTo, world, server, peer } = setup();
    const uri = `sip:100@${SERVER}`;
    const via = (mark: string): string =>
      `Via: SIP/2.0/UDP ${SERVER}:5060;branch=z9hG4bKours.${mark}`;
    expect(answerTo({ method: 'INVITE', headers: [via(loopMark(uri))] }).status).toBe(482);
    invite(peer, { callId: 'spiral', headers: [via(loopMark('sip:200@elsewhere'))] });
    world.advance(20);
    expect(server.count('incoming')).toBe(1);
  });

  it('reports capabilities in the answer to OPTIONS (§11.2)', () => {
    const response = setup().answerTo({ method: 'OPTIONS' });
    expect(response.status).toBe(200);
    expect(response.tokens('allow')).toContain('invite');
    expect(response.tokens('supported')).toEqual([
      ...['timer', '100rel', 'norefersub', 'replaces', 'tdialog'],
    ]);
    expect(response.header('accept')).toBe('application/sdp');
    expect(response.header('accept-encoding')).toBe('identity');
    expect(response.header('accept-language')).toBe('en');
  });

  it('answers an unknown authentication scheme with a challenge (RFC 4475 §3.3.7)', () => {
    const { answerTo } = setup();
    const response = answerTo({
      method: 'REGISTER',
      uri: `sip:${SERVER}`,
      headers: ['Authorization: NoOneKnowsThisScheme opaque-data=here'],
    });
    expect(response.status).toBe(401);
    expect(response.headers('www-authenticate').length).toBeGreaterThan(1);
  });
});

interface Expectation {
  readonly file: string;
  readonly wire_status: number | null;
  readonly wire_status_if_authorised?: number;
}

interface CorpusRow {
  readonly section: string;
  readonly rule: string;
  readonly status?: number | null;
  readonly message: readonly string[];
}

const CORPUS = new URL('../../../fixtures/sip-corpus/messages.json', import.meta.url);

describe('messages by rule on the wire', () => {
  const rows = JSON.parse(readFileSync(CORPUS, 'utf8')) as readonly CorpusRow[];

  it.each(rows)('$section: serves the next request after $rule', ({ status, message }) => {
    const { world, peer } = setup();
    peer.sendText(SERVER, Buffer.from(message.join('\r\n')));
    world.advance(50);
    const answers = world.sent.flatMap(({ message: sent }) =>
      sent.kind === 'response' && sent.status > 100 ? [sent.status] : [],
    );
    if (typeof status === 'number') expect(answers).toEqual([status]);
    world.advance(40_000);
    say(peer, { method: 'OPTIONS', callId: 'after' });
    world.advance(50);
    expect(peer.received.map(brief).at(-1)).toBe('200 OPTIONS');
  });
});

const TORTURE = '../shared/conformance/rfc4475';

describe.skipIf(!existsSync(TORTURE))(`RFC 4475 on the wire (skipped without ${TORTURE})`, () => {
  const rows = existsSync(TORTURE)
    ? (JSON.parse(readFileSync(`${TORTURE}/expectations.json`, 'utf8')) as readonly Expectation[])
    : [];
  const wanted = rows.flatMap(({ file, wire_status, wire_status_if_authorised }) => {
    const status = wire_status ?? wire_status_if_authorised;
    return status === undefined || status === null ? [] : [[file, status] as const];
  });

  it.each(wanted)('answers %s with %i', (file, status) => {
    const { world, peer } = setup();
    peer.sendText(SERVER, readFileSync(`${TORTURE}/${file}`));
    world.advance(50);
    const responses = world.sent.flatMap(({ message }) =>
      message.kind === 'response' && message.status > 100 ? [message.status] : [],
    );
    expect(responses).toEqual([status]);
  });

  it.each(rows.map(({ file }) => file))('serves the next request after %s', (file) => {
    const { world, peer } = setup();
    peer.sendText(SERVER, readFileSync(`${TORTURE}/${file}`));
    world.advance(40_000);
    say(peer, { method: 'OPTIONS', callId: 'after' });
    world.advance(50);
    expect(world.ladder().at(-1)).toBe('200 OPTIONS');
    expect(peer.received.map(brief).at(-1)).toBe('200 OPTIONS');
  });
});
