/** Packets that no compliant peer sends: the service drops or refuses them, and later callers are not affected. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { onTime } from '../on-time.ts';
import { babble, callFor, startCall } from './phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

let place: ServicePlace;
let service: Service;

/** RTP port range of this process, so that the packet flood does not reach other tests. */
const RTP_PORT_MIN = 25_000 + (process.pid % 100) * 40;

beforeAll(async () => {
  place = await newPlace({
    CARILLON_SIP_WS_ORIGINS: 'https://app.test',
    CARILLON_RTP_PORT_MIN: String(RTP_PORT_MIN),
    CARILLON_RTP_PORT_MAX: String(RTP_PORT_MIN + 39),
  });
  service = await Service.start(place);
});
afterAll(async () => {
  await service.kill();
  removePlace(place);
});

/** Sends datagrams from one socket and passes each response to `received` until it returns true. */
async function exchange(
  datagrams: readonly (string | Buffer)[],
  received: (answer: string) => boolean,
): Promise<void> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  try {
    await new Promise<void>((resolve) => {
      socket.on('message', (bytes) => {
        if (received(bytes.toString('latin1'))) resolve();
      });
      for (const datagram of datagrams) socket.send(datagram, service.sipPort, '127.0.0.1');
    });
  } finally {
    socket.close();
  }
}

/** Returns the status of the first response other than 100. */
async function statusFor(datagram: string): Promise<string> {
  let status = '100';
  await exchange([datagram], (answer) => {
    status = statusOf(answer);
    return status !== '100';
  });
  return status;
}

/** Returns the responses that arrive before the response to a subsequent INVITE. The service handles new calls last. */
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
/** Number of SIP messages that arrived, by the counters of the service. */
const accounted = async (): Promise<number> => {
  const { text } = await service.get('/metrics');
  const counted = /^voice_sip_(?:dropped_total\{.*\}|messages_total\{.*direction="in".*\}) (\d+)/gm;
  return [...text.matchAll(counted)].reduce((sum, [, count]) => sum + Number(count), 0);
};
const statusOf = (answer: string | undefined): string => answer?.split(' ')[1] ?? '';

/** Cookie of a new user of the console, who has the role of an operator's owner. */
async function signedIn(): Promise<string> {
  users += 1;
  const email = `user${users}@example.test`;
  const made = await service.admin('POST', '/users', { email, role: 'owner' });
  const token = String(made.body['link']).split('/welcome/')[1];
  const accepted = await fetch(`${service.baseUrl}/console/api/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-console': '1' },
    body: JSON.stringify({ token, email, password: 'correct horse battery' }),
  });
  return accepted.headers.get('set-cookie')?.split(';')[0] ?? '';
}
let users = 0;

describe('malformed SIP over UDP', () => {
  it.each<[string, string | Buffer]>([
    ['an empty datagram', ''],
    ['a NAT keep-alive (RFC 5626)', '\r\n\r\n'],
    ['random bytes', Buffer.from(Array.from({ length: 1200 }, (_, i) => (i * 167 + 13) % 256))],
    ['a start line without headers', 'INVITE sip:alice@127.0.0.1 SIP/2.0\r\n\r\n'],
    ['65 000 bytes of one header', `OPTIONS sip:a@b SIP/2.0\r\nX: ${'x'.repeat(65_000)}\r\n\r\n`],
    ['an unmatched response', whole('OPTIONS').replace(/^.*\r\n/, 'SIP/2.0 200 OK\r\n')],
    [
      'a request without Via',
      request('INVITE', ['From: <sip:a@b>;tag=1', 'To: <sip:b@c>', 'Call-ID: 1', 'CSeq: 1 INVITE']),
    ],
  ])('%s gets no response', async (_, datagram) => {
    expect(await answersTo(datagram)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['CSeq of another method', whole('INVITE', { CSeq: '1 BYE' }), '400'],
    ['Max-Forwards of zero', whole('INVITE', { 'Max-Forwards': '0' }), '483'],
    ['an unknown extension', whole('INVITE', { Require: 'teleport' }), '420'],
    ['an unknown method', whole('TELEPORT'), '405'],
    ['BYE outside a dialog', whole('BYE', { To: '<sip:alice@127.0.0.1>;tag=gone' }), '481'],
    ['CANCEL of nothing', whole('CANCEL'), '481'],
    ['INVITE without credentials', whole('INVITE'), '401'],
    ['REGISTER without credentials', whole('REGISTER'), '401'],
  ])('%s is answered', async (_, datagram, status) => {
    expect(await statusFor(datagram)).toBe(status);
  });

  it('continues to work after every single byte of a message was corrupted in turn', async () => {
    const good = Buffer.from(whole('INVITE'));
    const broken = Array.from({ length: good.length }, (_, i) => {
      const copy = Buffer.from(good);
      copy[i] = i % 2 === 0 ? 0 : 0xff;
      return copy;
    });
    const before = await accounted();
    await exchange(broken, () => true);
    // Each of them is counted as received or dropped.
    await eventually('all messages', async () =>
      (await accounted()) >= before + broken.length ? true : undefined,
    );
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

  it('answers a message that arrives byte by byte', async () => {
    const socket = await open();
    socket.setNoDelay(true);
    for (const byte of Buffer.from(tcp(whole('OPTIONS')))) socket.write(Buffer.from([byte]));
    await eventually('an answer', () => (socket.text.startsWith('SIP/2.0 ') ? true : undefined));
    socket.destroy();
  });

  it('answers two messages that arrive in one segment', async () => {
    const socket = await open();
    socket.write(tcp(whole('REGISTER')) + tcp(whole('REGISTER')));
    await eventually('two answers', () =>
      socket.text.split('SIP/2.0 401').length === 3 ? true : undefined,
    );
    socket.destroy();
  });

  it('survives half a message whose sender disconnects', async () => {
    const socket = await open();
    const message = tcp(whole('INVITE'));
    socket.end(message.slice(0, message.length / 2));
    await once(socket, 'close');
    expect(socket.text).toBe('');
  });

  it.each([
    ['no Content-Length', tcp(whole('INVITE')).replace(/Content-Length: 0\r\n/, '')],
    [
      'a Content-Length of several megabytes',
      tcp(whole('INVITE')).replace('Content-Length: 0', 'Content-Length: 99999999'),
    ],
    ['a head without end', `INVITE sip:a@b SIP/2.0\r\nX: ${'x'.repeat(300_000)}`],
    ['another protocol', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('closes a connection whose next message boundary is unknown: %s', async (_, bytes) => {
    const socket = await open();
    socket.write(bytes);
    await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
  });
});

describe('a web page of another origin', () => {
  const OWN = 'https://app.test';
  const FOREIGN = 'https://evil.test';
  const headersOf = async (method: string, path: string, headers: Record<string, string>) => {
    const limit = AbortSignal.timeout(60_000);
    const reply = await fetch(`${service.baseUrl}${path}`, { method, headers, signal: limit });
    const { status } = reply;
    await reply.body?.cancel();
    return { status, allowed: reply.headers.get('access-control-allow-origin') };
  };

  /** Opens a SIP WebSocket at the HTTP port, from an own address. */
  const open = (origin: string | undefined, localAddress: string) =>
    new WebSocket(`${service.baseUrl.replace('http', 'ws')}/sip`, ['sip'], {
      localAddress,
      headers: origin === undefined ? {} : { origin },
    });

  it('opens no SIP WebSocket, if sip.wsOrigins lists the own pages', async () => {
    for (const origin of [FOREIGN, 'null', `${OWN}.evil.test`, `${OWN}:8443`]) {
      const refused = open(origin, '127.0.0.1');
      const [error] = (await once(refused, 'error')) as [Error];
      expect(error.message, origin).toContain('403');
    }
    for (const origin of [OWN, undefined]) {
      const accepted = open(origin, '127.0.0.1');
      await once(accepted, 'open');
      accepted.terminate();
    }
  });

  it('never counts as a carrier, even in a browser at the address of a carrier', async () => {
    const address = '127.0.0.77';
    const carrier = { name: 'page', host: address, source_addresses: [address], prefixes: ['999'] };
    expect((await service.admin('POST', '/carriers', carrier)).status).toBe(201);
    const page = open(OWN, address);
    await once(page, 'open');
    const statuses: string[] = [];
    page.on('message', (bytes: Buffer) => statuses.push(statusOf(String(bytes))));
    page.send(whole('INVITE').replace('SIP/2.0/UDP', 'SIP/2.0/WS'));
    await eventually('the refusal', () => statuses.includes('401') || undefined);
    page.terminate();
    expect((await service.admin('DELETE', '/carriers/page')).status).toBe(204);
  });

  it('cannot read live updates, the stream inspector or the API with the cookie of a user', async () => {
    const cookie = await signedIn();
    const account = `/v1/Account/${service.demo.authId}`;
    for (const path of [
      '/console/api/events',
      '/console/api/me',
      `${account}/Call/x/stream-events`,
      '/admin/v1/accounts',
    ]) {
      const got = await headersOf('GET', path, { cookie, origin: FOREIGN });
      expect([path, got.status, got.allowed]).toEqual([path, 401, null]);
      const preflight = await headersOf('OPTIONS', path, {
        origin: FOREIGN,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-console',
      });
      expect(preflight.status, path).toBeGreaterThanOrEqual(400);
      expect(preflight.allowed, path).toBeNull();
    }
    const events = await headersOf('GET', '/console/api/events', { cookie, 'x-console': '1' });
    expect(events.status).toBe(200);
  });

  it('cannot change anything with a form, which needs no preflight request', async () => {
    const cookie = await signedIn();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const headers = { cookie, origin: FOREIGN, 'content-type': type };
      for (const path of ['/admin/v1/drain', '/console/api/sign-out', '/console/api/sessions'])
        expect([path, (await headersOf('POST', path, headers)).status >= 400]).toEqual([
          path,
          true,
        ]);
    }
    const me = await headersOf('GET', '/console/api/me', { cookie, 'x-console': '1' });
    expect(me.status).toBe(200);
  });

  it('cannot send SIP in the body of an HTTP request to a SIP port', async () => {
    const sip = whole('OPTIONS').replace('SIP/2.0/UDP', 'SIP/2.0/TCP');
    const head = `POST / HTTP/1.1\r\nHost: x\r\nOrigin: ${FOREIGN}\r\n`;
    for (const more of [
      `Content-Length: ${sip.length}`,
      'Content-Length: 0',
      'Connection: close',
    ]) {
      const socket = connect(service.sipPort, '127.0.0.1');
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
      });
      socket.on('error', () => undefined);
      socket.write(`${head}${more}\r\n\r\n${sip}`);
      await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
      expect(text, more).not.toContain('SIP/2.0 200');
    }
  });
});

const packetTime = () => wait(20);

/** Sends sequential RTP to every port of the service until `over` aborts. Returns the number of packets received. */
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

/** Minimum similarity. Mixed-in audio from the unknown source would push it near zero; a busy machine lowers it slightly. */
const RECEIVED = 0.5;

/** Number of packets after which the leg has latched onto its peer. */
const HEARD_PACKETS = 10;
const packetsReceived = () => metric(/^voice_rtp_packets_total\{direction="in"\} (\d+)/m);

describe('RTP from an unknown source', () => {
  it('is not played, and the leg does not follow it', () =>
    onTime(async () => {
      const call = await startCall(service, service.demo, { seconds: 4, voice: babble(2.5) });
      await call.answered;
      const before = await packetsReceived();
      await eventually('the audio of the caller', async () =>
        (await packetsReceived()) > before + HEARD_PACKETS ? true : undefined,
      );
      const over = new AbortController();
      const followed = sprayRtp(over.signal);
      const { reception, echo } = await call.report;
      over.abort();
      expect(await followed).toBe(0);
      expect(reception.lost).toBe(0);
      expect(echo?.likeness ?? 0).toBeGreaterThan(RECEIVED);
    }));

  it('cannot take over a call, even if it sends from the first moment', () =>
    onTime(async () => {
      const over = new AbortController();
      const followed = sprayRtp(over.signal);
      const call = await startCall(service, service.demo, { seconds: 4, voice: babble(2.5) });
      const { reception, echo } = await call.report;
      over.abort();
      // The unknown source may receive packets only until the first packet of the real peer.
      expect(await followed).toBeLessThan(10);
      expect(reception.lost).toBe(0);
      expect(echo?.likeness ?? 0).toBeGreaterThan(RECEIVED);
    }));
});

it('causes no internal error, and is counted', async () => {
  const errors = service.program.stdout
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"|"bug":true/.test(line));
  expect(errors).toEqual([]);
  expect(service.program.stderr).toBe('');
  const { text } = await service.get('/metrics');
  expect(text).toMatch(/^voice_sip_discarded_total [1-9]/m);
  expect(text).toMatch(/^voice_sip_messages_total\{.*method="INVITE".*\} [1-9]/m);
});
