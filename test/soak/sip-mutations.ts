/**
 * `npm run fuzz:sip -- [--messages 1000000] [--seed 1]` feeds mutated SIP messages to a user agent with active calls,
 * registrations and subscriptions. No message may throw, exceed the time limit, or leave state beyond the limits.
 */
import { parseArgs } from 'node:util';
import { asLegId } from '../../src/base/ids.ts';
import { callIdOf, maskedMessage } from '../../src/edge/sip/trace/message-text.ts';
import { requestQuoted } from '../../src/protocol/sip/transaction/quoted.ts';
import type { Flow } from '../../src/protocol/sip/transport/flow.ts';
import { StreamFramer } from '../../src/protocol/sip/transport/framer.ts';
import { quickParse } from '../../src/protocol/sip/transport/quick-parse.ts';
import { numberOption, SEED } from '../number-option.ts';
import { ANSWER, OFFER, REALM, seededRandom, World } from '../protocol/sip-ua/world.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
  },
});
const MESSAGES = numberOption('messages', values.messages, { least: 1, most: 1_000_000_000 });
/** CPU time above which a message counts as slow in every repeated run, ms. */
const SLOW_MS = 5;
const TRIES = 5;
const random = seededRandom(numberOption('seed', values.seed, SEED));
const SERVER = '192.0.2.1';

const flow: Flow = {
  transport: 'udp',
  localAddress: SERVER,
  localPort: 5060,
  remoteAddress: '192.0.2.9',
  remotePort: 5060,
  connectionId: undefined,
};

/** Sample messages of each kind, as phones and carriers write them. */
function corpus(): readonly string[] {
  const head = (method: string, more: readonly string[], body = ''): string =>
    [
      `${method} sip:100@${SERVER} SIP/2.0`,
      'Via: SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bKfuzz1;rport, SIP/2.0/TCP [2001:db8::9]:5061;branch=z9hG4bKfuzz0;received=192.0.2.8',
      'Max-Forwards: 70',
      `From: "Al\\"ice" <sip:alice@${SERVER};user=phone>;tag=peer`,
      `To: <sip:100@${SERVER}>`,
      'Call-ID: fuzz-1@192.0.2.9',
      `CSeq: 1 ${method}`,
      'Contact: "A" <sip:alice@192.0.2.9:5060;transport=udp>;q=0.7;expires=600;+sip.instance="<urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6>";reg-id=1',
      'Record-Route: <sip:p1.example.com;lr>, <sip:p2.example.com;lr>',
      'Supported: timer, 100rel, replaces',
      ...more,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
  const digest =
    'Authorization: Digest username="alice",realm="carillon.test",nonce="84a4cc6f3082121f32b42a2187831a9e",uri="sip:100@192.0.2.1",response="7587245234b3434cc3412213e5f113a5",algorithm=SHA-256,cnonce="0a4f113b",qop=auth,nc=00000001';
  return [
    head('INVITE', [digest, 'Session-Expires: 600;refresher=uac', 'Min-SE: 90'], OFFER),
    head('INVITE', ['Require: 100rel', 'Replaces: x;to-tag=1;from-tag=2;early-only'], OFFER),
    head('REGISTER', [digest, 'Expires: 600', 'Path: <sip:edge.example.com;lr;ob>']),
    head('SUBSCRIBE', [digest, 'Event: dialog;id=3', 'Accept: application/dialog-info+xml']),
    head('MESSAGE', [digest, 'Content-Type: text/plain'], 'hello'),
    head('REFER', [
      'Refer-To: <sip:c@x?Replaces=a%3Bto-tag%3Db%3Bfrom-tag%3Dc>',
      'Refer-Sub: false',
    ]),
    head('OPTIONS', ['Accept: application/sdp;level=1, */*;q=0.1']),
    head('NOTIFY', ['Event: refer', 'Subscription-State: terminated;reason=noresource']),
    head('PRACK', ['RAck: 1 1 INVITE']),
    head('INFO', ['Content-Type: application/dtmf-relay'], 'Signal=5\r\nDuration=160\r\n'),
    head('UPDATE', [], OFFER),
    head('BYE', ['Reason: Q.850;cause=16;text="Normal"']),
    head('CANCEL', ['Reason: SIP;cause=200;text="Call completed elsewhere"']),
    head('ACK', []),
    head(
      'INVITE',
      ['Content-Type: multipart/mixed;boundary="b1"'],
      `--b1\r\nContent-Type: application/sdp\r\n\r\n${OFFER}\r\n--b1--\r\n`,
    ),
    `SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP ${SERVER}:5060;branch=z9hG4bKx.00000000;rport\r\nFrom: <sip:1@${SERVER}>;tag=a\r\nTo: <sip:2@h>;tag=b\r\nCall-ID: out\r\nCSeq: 1 INVITE\r\nContact: <sip:2@192.0.2.9>\r\nRequire: timer\r\nSession-Expires: 1800;refresher=uas\r\nContent-Type: application/sdp\r\nContent-Length: ${ANSWER.length}\r\n\r\n${ANSWER}`,
    `SIP/2.0 401 Unauthorized\r\nVia: SIP/2.0/UDP ${SERVER}:5060;branch=z9hG4bKx\r\nFrom: <sip:1@${SERVER}>;tag=a\r\nTo: <sip:2@h>;tag=b\r\nCall-ID: out\r\nCSeq: 1 INVITE\r\nWWW-Authenticate: Digest realm="r", nonce="n", algorithm=MD5, qop="auth,auth-int"\r\nContent-Length: 0\r\n\r\n`,
  ];
}

const TOKENS = [
  ...[
    '',
    ' ',
    '\t',
    '\r\n',
    '\r\n ',
    '\n',
    '\0',
    ',',
    ';',
    ':',
    '"',
    '\\',
    '<',
    '>',
    '@',
    '%',
    '%00',
    '=',
  ],
  ...[
    '[',
    ']',
    '::',
    '-1',
    '0',
    '4294967296',
    '99999999999999999999',
    '1e9',
    'é',
    '\ud83d\ude00',
    '()',
    '(((',
  ],
  ...[
    'sip:',
    'sips:',
    'tel:+1',
    'tag=',
    'branch=z9hG4bK',
    'SIP/2.0',
    'SIP/3.0',
    ';lr',
    ';x="',
    'a=',
    'm=audio 0 RTP/AVP 0\r\n',
  ],
];
const LONG = [20, 200, 2000, 20_000];

function mutated(text: string): Buffer {
  let out = text;
  const steps = 1 + random.integer(6);
  for (let step = 0; step < steps; step += 1) {
    const at = random.integer(out.length + 1);
    const to = Math.min(out.length, at + random.integer(40));
    const token = TOKENS[random.integer(TOKENS.length)] ?? '';
    switch (random.integer(8)) {
      case 0:
        out = out.slice(0, at) + token + out.slice(at);
        break;
      case 1:
        out = out.slice(0, at) + token + out.slice(to);
        break;
      case 2:
        out = out.slice(0, at) + out.slice(to);
        break;
      case 3: {
        // Repeats the same fragment many times.
        const times = (LONG[random.integer(random.integer(20) === 0 ? 4 : 2)] ?? 20) / 2;
        const piece = out.slice(at, Math.min(to, at + 8)) || token;
        out = out.slice(0, at) + piece.repeat(times) + out.slice(at);
        break;
      }
      case 4: {
        const lines = out.split('\r\n');
        const line = lines[random.integer(lines.length)] ?? '';
        lines.splice(random.integer(lines.length), 0, line);
        out = lines.join('\r\n');
        break;
      }
      case 5: {
        const lines = out.split('\r\n');
        lines.splice(random.integer(lines.length), 1);
        out = lines.join('\r\n');
        break;
      }
      case 6:
        out = out.slice(0, at);
        break;
      default:
        out = `${out.slice(0, at)}${String.fromCharCode(random.integer(256))}${out.slice(at + 1)}`;
    }
    if (out.length > 60_000) out = out.slice(0, 60_000);
  }
  const bytes = Buffer.from(out);
  if (random.integer(10) === 0 && bytes.length > 0) bytes[random.integer(bytes.length)] = 0x80;
  return bytes;
}

/** Creates a user agent with calls in every state. */
function busyAgent() {
  const world = new World();
  const server = world.agent(SERVER, {
    realm: REALM,
    trustedSource: ({ remotePort }) => (remotePort === 5061 ? 'carrier' : undefined),
  });
  server.users.set('alice', 'wonderland');

  for (let leg = 2; leg < 20; leg += 2) {
    server.dispatch({
      kind: 'invite',
      leg: asLegId(leg),
      target: { kind: 'uri', uri: 'sip:bob@192.0.2.9' },
      from: { user: '1', host: SERVER, displayName: '' },
      callId: leg === 2 ? 'out' : `out-${leg}`,
      sdp: OFFER,
      headers: [],
      account: { username: 'u', password: 'p' },
    });
  }
  return { world, server };
}

const messages = corpus();
let { world, server } = busyAgent();
const failures: string[] = [];
const slow: string[] = [];
let worstMs = 0;

/** Passes the bytes to every parser that reads messages of an unknown peer. */
function read(bytes: Buffer, from: Flow): void {
  server.receive(bytes, from);
  quickParse(bytes);
  callIdOf(bytes);
  maskedMessage(bytes);
  requestQuoted(bytes.toString('latin1'));
  const framer = new StreamFramer();
  framer.push(bytes);
}

function timed(bytes: Buffer, from: Flow): number {
  const begun = process.threadCpuUsage();
  read(bytes, from);
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}

const startedMs = performance.now();
for (let count = 0; count < MESSAGES && failures.length < 20 && slow.length < 20; count += 1) {
  const bytes = mutated(messages[random.integer(messages.length)] ?? '');
  const from = random.integer(3) === 0 ? { ...flow, remotePort: 5061 } : flow;
  try {
    let tookMs = timed(bytes, from);
    // Repeats slow messages, to exclude pauses of V8.
    for (let again = 1; again < TRIES && tookMs > SLOW_MS; again += 1) {
      tookMs = Math.min(tookMs, timed(bytes, from));
    }
    worstMs = Math.max(worstMs, tookMs);
    if (tookMs > SLOW_MS) slow.push(`${tookMs.toFixed(1)} ms: ${bytes.toString('base64')}`);
  } catch (error) {
    failures.push(`${error instanceof Error ? error.stack : error}: ${bytes.toString('base64')}`);
  }
  if (count % 200 === 199) {
    world.advance(100);
    (world.sent as unknown[]).length = 0;
    server.events.length = 0;
  }
  // Replaces the agent, because accepted messages accumulate. Another test covers the limits.
  if (count % 20_000 === 19_999) ({ world, server } = busyAgent());
}
const tookS = (performance.now() - startedMs) / 1000;
console.log(
  `${MESSAGES} mutated messages in ${tookS.toFixed(0)} s, ${((tookS * 1e6) / MESSAGES).toFixed(0)} µs each; the slowest ${worstMs.toFixed(1)} ms`,
);
for (const line of [...failures, ...slow]) console.log(line);
console.log(`${failures.length} thrown, ${slow.length} slow`);
if (failures.length + slow.length > 0) process.exitCode = 1;
