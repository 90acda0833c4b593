/** Cost of the signalling of one answered call with both of its legs, without sockets: 14 messages through one user agent. */

import { asLegId } from '../src/base/ids.ts';
import { systemRandom } from '../src/base/system-random.ts';
import { UserAgent, type UserAgentOutput } from '../src/protocol/sip/sip.ts';
import type { Flow } from '../src/protocol/sip/transport/flow.ts';
import type { Row } from './row.ts';

const SDP = [
  'v=0',
  'o=user1 53655765 2353687637 IN IP4 192.0.2.7',
  's=-',
  'c=IN IP4 192.0.2.7',
  't=0 0',
  'm=audio 6000 RTP/AVP 0',
  'a=rtpmap:0 PCMU/8000',
  '',
].join('\r\n');

const flowTo = (remoteAddress: string): Flow => ({
  transport: 'udp',
  localAddress: '192.0.2.1',
  localPort: 5060,
  remoteAddress,
  remotePort: 5060,
  connectionId: undefined,
});
const CALLER = flowTo('192.0.2.7');
const CALLEE = flowTo('192.0.2.8');
const MESSAGES = 14;

const message = (lines: readonly string[], body = ''): Buffer =>
  Buffer.from(
    [
      ...lines,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  );

/** The lines of a request of ours that a response repeats. */
const echoed = (request: string, tag: string): readonly string[] =>
  request
    .split('\r\n')
    .filter((line) => /^(?:via|from|to|call-id|cseq):/i.test(line))
    .map((line) => (/^To:/.test(line) && !line.includes('tag=') ? `${line};tag=${tag}` : line));

class Exchange {
  readonly #agent: UserAgent;
  /** CPU time of the user agent itself. */
  spentUs = 0;
  #nowMs = 0;
  #count = 0;

  constructor() {
    this.#agent = new UserAgent({
      random: systemRandom,
      publicHost: '192.0.2.1',
      publicPort: 5060,
      localAddress: '0.0.0.0',
      localPort: 5060,
      userAgent: 'bench',
      transports: ['udp'],
      wallOffsetMs: 0,
      realm: undefined,
      trustedSource: () => 'carrier',
      challengeOrder: 'compatible',
    });
  }

  /** One call: INVITE, 100, 180, 200, ACK and BYE on either side. */
  call(): void {
    this.#nowMs += 5;
    this.#count += 1;
    const id = this.#count;
    const inbound = 2 * id - 1;
    const outbound = 2 * id;
    const head = (method: string, sequence: number, tag: string): readonly string[] => [
      `${method} sip:14155550003@192.0.2.1:5060 SIP/2.0`,
      `Via: SIP/2.0/UDP 192.0.2.7:5060;branch=z9hG4bK-2741-${id}-${method === 'INVITE' ? 0 : sequence + 5}`,
      `From: sipp <sip:sipp@192.0.2.7:5060>;tag=2741SIPpTag00${id}`,
      `To: 14155550003 <sip:14155550003@192.0.2.1:5060>${tag}`,
      `Call-ID: ${id}-2741@192.0.2.7`,
      `CSeq: ${sequence} ${method}`,
      'Contact: sip:sipp@192.0.2.7:5060',
      'Max-Forwards: 70',
      'Subject: Performance Test',
    ];
    this.#feed({ kind: 'received', bytes: message(head('INVITE', 1, ''), SDP), flow: CALLER });
    this.#feed({ kind: 'ring', leg: asLegId(inbound), sdp: undefined });
    const invite = this.#feed({
      kind: 'invite',
      leg: asLegId(outbound),
      target: { kind: 'uri', uri: 'sip:14155602000@192.0.2.8:5060', transport: 'udp' },
      from: { user: '14155550100', host: '192.0.2.1', displayName: '' },
      callId: `b${id}`,
      sdp: SDP,
      headers: [['P-Asserted-Identity', '<sip:14155550100@192.0.2.1>']],
      account: undefined,
    });
    const reply = (status: string, body = ''): Buffer =>
      message(
        [`SIP/2.0 ${status}`, ...echoed(invite, `uas${id}`), 'Contact: <sip:192.0.2.8:5060>'],
        body,
      );
    this.#feed({ kind: 'received', bytes: reply('180 Ringing'), flow: CALLEE });
    this.#feed({ kind: 'received', bytes: reply('200 OK', SDP), flow: CALLEE });
    const ok = this.#feed({ kind: 'answer', leg: asLegId(inbound), sdp: SDP });
    const toTag = /^To:.*(;tag=[^;\r]+)/m.exec(ok)?.[1] ?? '';
    this.#feed({ kind: 'received', bytes: message(head('ACK', 1, toTag)), flow: CALLER });
    this.#feed({ kind: 'received', bytes: message(head('BYE', 2, toTag)), flow: CALLER });
    const bye = this.#feed({
      kind: 'hangup',
      leg: asLegId(outbound),
      status: 480,
      reason: undefined,
    });
    const over = message(['SIP/2.0 200 OK', ...echoed(bye, `uas${id}`)]);
    this.#feed({ kind: 'received', bytes: over, flow: CALLEE });
    if (this.#agent.legs !== 0) throw new Error('the call did not end');
  }

  /** The last message that goes out. */
  #feed(input: Parameters<UserAgent['handle']>[0]): string {
    const before = process.threadCpuUsage();
    const outputs: UserAgentOutput[] = [...this.#agent.handle(input, this.#nowMs)];
    if ((this.#agent.deadlineMs() ?? Number.POSITIVE_INFINITY) <= this.#nowMs) {
      outputs.push(...this.#agent.expire(this.#nowMs));
    }
    const { user, system } = process.threadCpuUsage(before);
    this.spentUs += user + system;
    const sent = outputs.findLast((output) => output.kind === 'send');
    return sent === undefined ? '' : Buffer.from(sent.bytes).toString();
  }
}

const WARM_UP = 4000;
const ROUNDS = 7;
const CALLS = 1000;

export function run(): Promise<Row[]> {
  const exchange = new Exchange();
  for (let i = 0; i < WARM_UP; i += 1) exchange.call();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    exchange.spentUs = 0;
    for (let i = 0; i < CALLS; i += 1) exchange.call();
    best = Math.min(best, exchange.spentUs / CALLS);
  }
  return Promise.resolve([
    {
      name: 'sip call with two legs',
      value: Number(best.toFixed(1)),
      unit: 'µs/call',
      note: `${MESSAGES} messages, ${Number((best / MESSAGES).toFixed(1))} µs each; one call every 5 ms of virtual time`,
    },
  ]);
}
