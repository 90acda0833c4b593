/** Datagrams of unknown peers. Each one is self-contained and differs from the previous one. */
import type { DatagramKind } from './udp-flood.ts';

export interface DatagramFacts {
  readonly address: string;
  readonly ownPort: number;
  readonly port: number;
  readonly number: number;
  readonly username: string;
  readonly realm: string;
}

const OVERSIZED_BYTES = 60_000;

export function datagram(kind: DatagramKind, facts: DatagramFacts): Buffer {
  switch (kind) {
    case 'invite':
      return request('INVITE', facts, [`Contact: <sip:x@${facts.address}:${facts.ownPort}>`], SDP);
    case 'register':
      return request('REGISTER', facts, [`Contact: <sip:x@${facts.address}:${facts.ownPort}>`]);
    case 'guess':
      return request('REGISTER', facts, [
        `Contact: <sip:x@${facts.address}:${facts.ownPort}>`,
        guess(facts),
      ]);
    case 'garbage':
      return Buffer.from(
        Array.from({ length: 20 + (facts.number % 400) }, (_, i) => (i * facts.number * 7) & 255),
      );
    case 'oversized':
      return request('INVITE', facts, [`Subject: ${'x'.repeat(OVERSIZED_BYTES)}`], SDP);
    case 'tiny':
      return Buffer.from(TINY[facts.number % TINY.length] ?? '', 'latin1');
    case 'rtp':
      return rtp(facts.number);
    case 'broken-rtp':
      return broken(rtp(facts.number), facts.number);
    case 'broken-rtcp':
      return broken(Buffer.from('80c90001deadbeef', 'hex'), facts.number);
  }
}

const FRAME_SAMPLES = 160;

/** Builds the PCMU packet with sequence number `number`. */
function rtp(number: number): Buffer {
  const bytes = Buffer.alloc(12 + FRAME_SAMPLES, 0x80);
  bytes[1] = 0;
  bytes.writeUInt16BE(number & 0xffff, 2);
  bytes.writeUInt32BE((number * FRAME_SAMPLES) >>> 0, 4);
  return bytes;
}

/** Damages a packet: truncated, too long, other version or payload type, or a header longer than the packet. */
function broken(whole: Buffer, number: number): Buffer {
  const bytes = Buffer.from(whole);
  switch (number % 5) {
    case 0:
      return bytes.subarray(0, number % 12);
    case 1:
      return Buffer.concat([bytes, Buffer.alloc(OVERSIZED_BYTES)]);
    case 2:
      bytes[0] = 0x40 | (number & 0x3f);
      return bytes;
    case 3:
      bytes[1] = number & 0xff;
      return bytes;
    default:
      bytes[0] = 0xbf;
      return bytes;
  }
}

function request(
  method: string,
  { address, ownPort, port, number, username }: DatagramFacts,
  more: readonly string[],
  body = '',
): Buffer {
  const to = method === 'REGISTER' ? username : `${1000 + (number % 9000)}`;
  const uri = method === 'REGISTER' ? `sip:127.0.0.1:${port}` : `sip:${to}@127.0.0.1:${port}`;
  const lines = [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP ${address}:${ownPort};branch=z9hG4bK-${ownPort}-${number};rport`,
    `From: <sip:${username}@127.0.0.1>;tag=f${number}`,
    `To: <sip:${to}@127.0.0.1>`,
    `Call-ID: c${number}-${ownPort}@${address}`,
    `CSeq: 1 ${method}`,
    'Max-Forwards: 70',
    'User-Agent: stranger',
    ...more,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

/** Builds the Authorization header of the captured request with a nonce that the service never issued. */
const guess = ({ username, port, number, realm }: DatagramFacts): string =>
  `Authorization: Digest username="${username}", realm="${realm}", nonce="n${number}", uri="sip:127.0.0.1:${port}", response="${String(number).padStart(32, '0')}", algorithm=MD5, qop=auth, nc=00000001, cnonce="c"`;

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 9 RTP/AVP 0 8 101',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-15',
  'a=sendrecv',
  '',
].join('\r\n');

const MINIMAL = 'Via: SIP/2.0/UDP h;rport\r\nFrom: <sip:a>;tag=1\r\nTo: <sip:b>\r\nCall-ID: c\r\n';

/** Requests so short that any response would be longer. */
const TINY = [
  'OPTIONS sip:a SIP/2.0\r\n\r\n',
  `OPTIONS sip:a SIP/2.0\r\n${MINIMAL}CSeq: 1 OPTIONS\r\n\r\n`,
  `INVITE sip:a SIP/2.0\r\n${MINIMAL}CSeq: 1 INVITE\r\n\r\n`,
  `REGISTER sip:a SIP/2.0\r\n${MINIMAL}CSeq: 1 REGISTER\r\n\r\n`,
  `BYE sip:a SIP/2.0\r\n${MINIMAL}CSeq: 1 BYE\r\n\r\n`,
  `NEVER sip:a SIP/2.0\r\n${MINIMAL}CSeq: 1 NEVER\r\n\r\n`,
  'INVITE sip:a SIP/3.0\r\nv:SIP/2.0/UDP h\r\n\r\n',
  'A b\r\nv:SIP/2.0/UDP h\r\n\r\n',
  '\0\0\0\0',
  '\r\n\r\n',
];
