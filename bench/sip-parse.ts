/** Cost of one SIP message: parse, read what a call reads, validate, serialise. */

import { createResponse, type SipRequest } from '../src/protocol/sip/message.ts';
import { parseMessage } from '../src/protocol/sip/parse.ts';
import { serialize } from '../src/protocol/sip/serialize.ts';
import { TransactionLayer } from '../src/protocol/sip/transaction/layer.ts';
import type { Flow } from '../src/protocol/sip/transport/flow.ts';
import { validateRequest } from '../src/protocol/sip/validate.ts';
import type { Row } from './row.ts';

/** An INVITE as a desk phone sends it: 15 headers and SDP with four codecs. */
const SDP = [
  'v=0',
  'o=- 3989374213 3989374213 IN IP4 192.0.2.7',
  's=phone',
  'c=IN IP4 192.0.2.7',
  't=0 0',
  'm=audio 40000 RTP/AVP 0 8 9 101',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:9 G722/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-15',
  'a=ptime:20',
  'a=sendrecv',
  '',
].join('\r\n');

const INVITE = Buffer.from(
  [
    'INVITE sip:+14155550123@voice.example.com;user=phone SIP/2.0',
    'Via: SIP/2.0/UDP 192.0.2.7:5060;rport;branch=z9hG4bKPj3f1b2c4d5e6f708192a3b4c5d6e7f809',
    'Max-Forwards: 70',
    'From: "Alice Example" <sip:alice4821@voice.example.com>;tag=9fxced76sl3848277261',
    'To: <sip:+14155550123@voice.example.com;user=phone>',
    'Contact: <sip:alice4821@192.0.2.7:5060;ob>',
    'Call-ID: 3848276298220188511@192.0.2.7',
    'CSeq: 12345 INVITE',
    'Allow: PRACK, INVITE, ACK, BYE, CANCEL, UPDATE, INFO, SUBSCRIBE, NOTIFY, REFER, MESSAGE, OPTIONS',
    'Supported: replaces, 100rel, timer, norefersub',
    'Session-Expires: 1800',
    'Min-SE: 90',
    'User-Agent: Desk Phone 5.3.1',
    'Content-Type: application/sdp',
    `Content-Length: ${SDP.length}`,
    '',
    SDP,
  ].join('\r\n'),
);

const WARM_UP = 20_000;
const ROUNDS = 5;
const MESSAGES_PER_ROUND = 20_000;

/** Microseconds a call of `work`: the best of several rounds, which is the one the machine disturbed least. */
function microseconds(work: () => unknown): number {
  for (let i = 0; i < WARM_UP; i += 1) work();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    for (let i = 0; i < MESSAGES_PER_ROUND; i += 1) work();
    best = Math.min(best, ((performance.now() - startedMs) * 1_000) / MESSAGES_PER_ROUND);
  }
  return Number(best.toFixed(2));
}

function parse(): SipRequest {
  const result = parseMessage(INVITE);
  if (!result.ok || result.message.kind !== 'request') throw new Error('INVITE not understood');
  return result.message;
}

const FLOW: Flow = {
  transport: 'udp',
  localAddress: '192.0.2.1',
  localPort: 5060,
  remoteAddress: '192.0.2.7',
  remotePort: 5060,
  connectionId: undefined,
};

/** A whole INVITE server transaction, expiry included: bytes in, 100, 180, 200 and the end 32 s later. */
function serverTransaction(): () => void {
  const layer = new TransactionLayer({ newToken: () => 'token' });
  const [before = '', after = ''] = INVITE.toString('latin1').split('z9hG4bK');
  let count = 0;
  return () => {
    count += 1;
    // One call a millisecond of virtual time, so that about 32,000 transactions are alive.
    const bytes = Buffer.from(
      `${before}z9hG4bK${count}x${after}`.replace('38482', `${count}y`),
      'latin1',
    );
    for (const output of layer.receive(bytes, FLOW, count)) {
      if (output.kind !== 'request') continue;
      for (const status of [180, 200]) {
        const response = createResponse(output.request, status, { toTag: 'a6c85cf' });
        layer.respond(output.transaction, response, count);
      }
    }
    layer.expire(count);
  };
}

export function run(): Promise<Row[]> {
  const request = parse();
  const copy = microseconds(() => Buffer.from(INVITE.toString('utf8'), 'utf8'));
  const floorNote = 'floor: the bytes decoded to a string and encoded again';
  const row = (name: string, value: number): Row => ({
    name,
    value,
    unit: 'µs/message',
    floor: copy,
    ratio: Number((value / copy).toFixed(1)),
    note: floorNote,
  });
  return Promise.resolve([
    row('sip parse INVITE with SDP', microseconds(parse)),
    row(
      'sip parse + serialise INVITE with SDP',
      microseconds(() => serialize(parse())),
    ),
    row(
      'sip parse + validate INVITE with SDP',
      microseconds(() => validateRequest(parse())),
    ),
    row(
      'sip build + serialise 180 to it',
      microseconds(() => serialize(createResponse(request, 180, { toTag: 'a6c85cf' }))),
    ),
    {
      name: 'sip INVITE server transaction: 100, 180, 200, end',
      value: microseconds(serverTransaction()),
      unit: 'µs/transaction',
      note: 'about 32,000 transactions alive',
    },
  ]);
}
