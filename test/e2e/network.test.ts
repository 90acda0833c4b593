/** Packets that no well-behaved peer sends: the service drops or refuses them, and the next caller notices nothing. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { babble, callFor, startCall } from './phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

// Whole processes start here, and other tests use the machine at the same time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let place: ServicePlace;
let service: Service;

/** Of this process alone: what is sprayed must not reach the tests beside it. */
const RTP_PORT_MIN = 25_000 + (process.pid % 100) * 40;

beforeAll(async () => {
  place = await newPlace({
    CARILLON_RTP_PORT_MIN: String(RTP_PORT_MIN),
    CARILLON_RTP_PORT_MAX: String(RTP_PORT_MIN + 39),
  });
  service = await Service.start(place);
});
afterAll(async () => {
  await service.kill();
  removePlace(place);
});

/** Sends datagrams from one socket and hands each answer to `heard` until that is satisfied. */
async function exchange(
  datagrams: readonly (string | Buffer)[],
  heard: (answer: string) => boolean,
): Promise<void> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  try {
    await new Promise<void>((resolve) => {
      socket.on('message', (bytes) => {
        if (heard(bytes.toString('latin1'))) resolve();
      });
      for (const datagram of datagrams) socket.send(datagram, service.sipPort, '127.0.0.1');
    });
  } finally {
    socket.close();
  }
}

/** The status of the first answer that is not 100. */
async function statusFor(datagram: string): Promise<string> {
  let status = '100';
  await exchange([datagram], (answer) => {
    status = statusOf(answer);
    return status !== '100';
  });
  return status;
}

/** What was answered by the time that an INVITE sent afterwards has its answer: new calls are served last. */
async function answersTo(datagram: string | Buffer): Promise<string[]> {
  const probe = whole('INVITE');
  const callId = /^Call-ID: .*$/m.exec(probe)?.[0] ?? '';
  const answers: string[] = [];
  await exchange([datagram, probe], (answer) => {
    if (answer.includes(callId)) return true;
    answers.push(answer);
    return false;
  });
  return answers;
}

const request = (method: string, headers: readonly string[], body = ''): string =>
  [
    `${method} sip:alice@127.0.0.1 SIP/2.0`,
    ...headers,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');

let branches = 0;
const whole = (method: string, replaced: Readonly<Record<string, string>> = {}): string => {
  const headers: Record<string, string> = {
    Via: `SIP/2.0/UDP 127.0.0.1:9;rport;branch=z9hG4bK-e2e-${++branches}`,
    'Max-Forwards': '70',
    From: '<sip:mallory@127.0.0.1>;tag=m',
    To: '<sip:alice@127.0.0.1>',
    'Call-ID': `e2e-${branches}`,
    CSeq: `1 ${method}`,
    Contact: '<sip:mallory@127.0.0.1:9>',
    ...replaced,
  };
  return request(
    method,
    Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  );
};
const metric = async (name: RegExp): Promise<number> =>
  Number(name.exec((await service.get('/metrics')).text)?.[1] ?? 0);
const discarded = () => metric(/^voice_sip_discarded_total (\d+)/m);
const statusOf = (answer: string | undefined): string => answer?.split(' ')[1] ?? '';

describe('malformed SIP over UDP', () => {
  it.each<[string, string | Buffer]>([
    ['an empty datagram', ''],
    ['a NAT keep-alive (RFC 5626)', '\r\n\r\n'],
    ['random bytes', Buffer.from(Array.from({ length: 1200 }, (_, i) => (i * 167 + 13) % 256))],
    ['a start line alone', 'INVITE sip:alice@127.0.0.1 SIP/2.0\r\n\r\n'],
    ['65 000 bytes of one header', `OPTIONS sip:a@b SIP/2.0\r\nX: ${'x'.repeat(65_000)}\r\n\r\n`],
    ['a response to nothing', whole('OPTIONS').replace(/^.*\r\n/, 'SIP/2.0 200 OK\r\n')],
    [
      'a request without Via',
      request('INVITE', ['From: <sip:a@b>;tag=1', 'To: <sip:b@c>', 'Call-ID: 1', 'CSeq: 1 INVITE']),
    ],
  ])('%s is not answered', async (_, datagram) => {
    expect(await answersTo(datagram)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['CSeq of another method', whole('INVITE', { CSeq: '1 BYE' }), '400'],
    ['Max-Forwards of zero', whole('INVITE', { 'Max-Forwards': '0' }), '483'],
    ['an extension that nobody has', whole('INVITE', { Require: 'teleport' }), '420'],
    ['an unknown method', whole('TELEPORT'), '405'],
    ['BYE outside a dialog', whole('BYE', { To: '<sip:alice@127.0.0.1>;tag=gone' }), '481'],
    ['CANCEL of nothing', whole('CANCEL'), '481'],
    ['INVITE without credentials', whole('INVITE'), '401'],
    ['REGISTER without credentials', whole('REGISTER'), '401'],
  ])('%s is answered', async (_, datagram, status) => {
    expect(await statusFor(datagram)).toBe(status);
  });

  it('the same bytes with every single byte broken stop nothing', async () => {
    const good = Buffer.from(whole('INVITE'));
    const broken = Array.from({ length: good.length }, (_, i) => {
      const copy = Buffer.from(good);
      copy[i] = i % 2 === 0 ? 0 : 0xff;
      return copy;
    });
    const before = await discarded();
    await exchange(broken, () => true);
    await eventually('their end', async () => ((await discarded()) > before ? true : undefined));
    expect((await service.get('/readyz')).status).toBe(200);
    expect((await callFor(service, service.demo, 0.5)).setupMs).toBeDefined();
  });
});

describe('SIP over TCP', () => {
  async function open(): Promise<Socket & { text: string }> {
    const socket = Object.assign(connect(service.sipPort, '127.0.0.1'), { text: '' });
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      socket.text += bytes.toString('latin1');
    });
    await once(socket, 'connect');
    return socket;
  }
  const tcp = (text: string): string => text.replace('SIP/2.0/UDP', 'SIP/2.0/TCP');

  it('answers a message that comes byte by byte', async () => {
    const socket = await open();
    socket.setNoDelay(true);
    for (const byte of Buffer.from(tcp(whole('OPTIONS')))) socket.write(Buffer.from([byte]));
    await eventually('an answer', () => (socket.text.startsWith('SIP/2.0 ') ? true : undefined));
    socket.destroy();
  });

  it('answers two messages that come in one segment', async () => {
    const socket = await open();
    socket.write(tcp(whole('REGISTER')) + tcp(whole('REGISTER')));
    await eventually('two answers', () =>
      socket.text.split('SIP/2.0 401').length === 3 ? true : undefined,
    );
    socket.destroy();
  });

  it('lives with half a message whose sender goes away', async () => {
    const socket = await open();
    const message = tcp(whole('INVITE'));
    socket.end(message.slice(0, message.length / 2));
    await once(socket, 'close');
    expect(socket.text).toBe('');
  });

  it.each([
    ['no length at all', tcp(whole('INVITE')).replace(/Content-Length: 0\r\n/, '')],
    [
      'a length of megabytes',
      tcp(whole('INVITE')).replace('Content-Length: 0', 'Content-Length: 99999999'),
    ],
    ['a head without end', `INVITE sip:a@b SIP/2.0\r\nX: ${'x'.repeat(300_000)}`],
    ['another protocol', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])(
    'ends a connection on which nobody knows where the next message begins: %s',
    async (_, bytes) => {
      const socket = await open();
      socket.write(bytes);
      await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    },
  );
});

const packetTime = () => wait(20);

/** A stream of RTP, in sequence, to every port of the service, until `over`; what comes back. */
async function sprayRtp(over: AbortSignal): Promise<number> {
  const source = createSocket('udp4');
  let followed = 0;
  source.on('message', () => {
    followed += 1;
  });
  for (let packet = 0; !over.aborted; packet += 1) {
    for (let port = service.rtpPortMin; port <= service.rtpPortMax; port += 2) {
      const rtp = Buffer.alloc(172, 0x00);
      rtp.writeUInt16BE(0x8000, 0);
      rtp.writeUInt16BE(packet & 0xffff, 2);
      rtp.writeUInt32BE(packet * 160, 4);
      rtp.writeUInt32BE(0xdeadbeef, 8);
      source.send(rtp, port, '127.0.0.1');
    }
    await packetTime();
  }
  source.close();
  return followed;
}

/** The sound of the unknown source would leave next to nothing of the likeness; a busy machine costs some of it. */
const HEARD = 0.5;

/** So many packets and the leg knows its peer for certain. */
const HEARD_PACKETS = 10;
const packetsReceived = () => metric(/^voice_rtp_packets_total\{direction="in"\} (\d+)/m);

describe('RTP from an unknown source', () => {
  it('is neither heard nor followed', async () => {
    const call = await startCall(service, service.demo, { seconds: 4, voice: babble(2.5) });
    await call.answered;
    const before = await packetsReceived();
    await eventually('the voice of the caller', async () =>
      (await packetsReceived()) > before + HEARD_PACKETS ? true : undefined,
    );
    const over = new AbortController();
    const followed = sprayRtp(over.signal);
    const { reception, echo } = await call.report;
    over.abort();
    expect(await followed).toBe(0);
    expect(reception.lost).toBe(0);
    expect(echo?.likeness ?? 0).toBeGreaterThan(HEARD);
  });

  it('takes no call, even from the first moment on and all the while', async () => {
    const over = new AbortController();
    const followed = sprayRtp(over.signal);
    const call = await startCall(service, service.demo, { seconds: 4, voice: babble(2.5) });
    const { reception, echo } = await call.report;
    over.abort();
    // What an unknown source may get until the owner's first packet is there.
    expect(await followed).toBeLessThan(10);
    expect(reception.lost).toBe(0);
    expect(echo?.likeness ?? 0).toBeGreaterThan(HEARD);
  });
});

it('none of this is an error of ours, and it is counted', async () => {
  const errors = service.program.stdout
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"|"bug":true/.test(line));
  expect(errors).toEqual([]);
  expect(service.program.stderr).toBe('');
  const { text } = await service.get('/metrics');
  expect(text).toMatch(/^voice_sip_discarded_total [1-9]/m);
  expect(text).toMatch(/^voice_sip_messages_total\{.*method="INVITE".*\} [1-9]/m);
});
