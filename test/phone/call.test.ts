import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { asAccountId, asEndpointId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom as random } from '../../src/base/system-random.ts';
import type { InboundLeg } from '../../src/domain/call/needs.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import type { RunningSignalling } from '../../src/edge/sip/signalling.ts';
import { createSignalling } from '../../src/edge/sip/signalling-service.ts';
import { type CallPlan, placeCall } from '../../src/phone/phone-call.ts';
import { callRows, isEchoReceived } from '../../src/phone/report.ts';
import { readRtp, writeRtp } from '../../src/phone/rtp/packet.ts';
import { VoiceChannel } from '../../src/phone/rtp/voice-channel.ts';
import { SipLine } from '../../src/phone/sip-line.ts';
import { ha1Of } from '../../src/protocol/sip/auth/digest.ts';
import { onTime } from '../on-time.ts';

const HOST = '127.0.0.1';
const REALM = 'carillon.test';
const ECHO_MS = 120;

const cleanups: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts the service's own signaling with one endpoint, alice, and a handler for her calls. */
async function server(onCall: (leg: InboundLeg) => void): Promise<RunningSignalling> {
  const secret = (algorithm: 'MD5' | 'SHA-256' | 'SHA-512-256') =>
    ha1Of(algorithm, 'alice', REALM, 'wonderland');
  const alice = {
    endpointId: asEndpointId('1'),
    accountId: asAccountId('MA_0123456789ABCDEFG'),
    username: 'alice',
    active: true,
    secrets: { md5: secret('MD5'), sha256: secret('SHA-256'), sha512256: secret('SHA-512-256') },
  };
  const signalling = createSignalling({
    egress: {
      refusesSip: () => undefined,
      judgeRtp: () => ({ kind: 'send' }),
      addressesOf: async () => [],
      isOwn: () => false,
    },
    host: HOST,
    port: 0,
    publicHost: HOST,
    transports: ['udp', 'tcp'],
    realm: REALM,
    userAgent: 'test',
    clock,
    random,
    logger: silentLogger,
    directory: { byUsername: (name) => Promise.resolve(name === 'alice' ? alice : undefined) },
    bindings: {
      save: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      listAll: () => Promise.resolve([]),
    },
    carriers: () => [],
  });
  signalling.onInbound(onCall);
  await signalling.start();
  cleanups.push(() => signalling.stop());
  return signalling;
}

/** An RTP peer that echoes received audio after `ECHO_MS` under a separate SSRC, and collects DTMF. */
async function echo(lose: (sequence: number) => boolean = () => false) {
  const socket: Socket = createSocket('udp4').bind({ address: HOST, port: 0 });
  await once(socket, 'listening');
  let open = true;
  cleanups.push(() => {
    open = false;
    socket.close();
  });
  const keys: number[][] = [];
  socket.on('message', (bytes, from) => {
    const packet = readRtp(bytes);
    if (packet === undefined) return;
    if (packet.payloadType === 101) keys.push([...packet.payload]);
    if (packet.payloadType > 8 || lose(packet.sequence)) return;
    setTimeout(() => {
      if (open)
        socket.send(writeRtp({ ...packet, ssrc: 7 }), from.port, from.address, () => undefined);
    }, ECHO_MS).unref();
  });
  const { port } = socket.address();
  const sdp = [
    'v=0',
    `o=- 1 1 IN IP4 ${HOST}`,
    's=-',
    `c=IN IP4 ${HOST}`,
    't=0 0',
    `m=audio ${port} RTP/AVP 0 101`,
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    '',
  ].join('\r\n');
  return { sdp, keys };
}

/** A rising sweep, in which no part resembles another. */
const VOICE = Int16Array.from(
  { length: 16_000 },
  (_, i) => 8000 * Math.sin(i * (0.1 + i / 40_000)),
);

const quiet = {
  ended: () => undefined,
  offered: () => undefined,
  answered: () => undefined,
  dtmf: () => undefined,
};

async function phone(
  signalling: RunningSignalling,
  transport: 'udp' | 'tcp',
  password = 'wonderland',
) {
  const line = await SipLine.open({
    host: HOST,
    port: signalling.port(),
    transport,
    username: 'alice',
    password,
    clock,
    random,
  });
  cleanups.push(() => line.close());
  return line;
}

async function call(line: SipLine, plan: Partial<CallPlan> = {}) {
  const channel = await VoiceChannel.open(line.localAddress, clock, random);
  cleanups.push(() => channel.close());
  return placeCall(line, channel, {
    to: '1000',
    codec: 'PCMU',
    voice: VOICE,
    durationMs: 2300,
    digits: '',
    signal: new AbortController().signal,
    clock,
    random,
    progress: () => undefined,
    ...plan,
  });
}

describe.each(['udp', 'tcp'] as const)('the bundled phone over %s', (transport) => {
  it('registers with digest, calls, and measures the echo', () =>
    onTime(async () => {
      const { sdp, keys } = await echo((sequence) => sequence % 25 === 0);
      const dialled: string[] = [];
      const signalling = await server((leg) => {
        dialled.push(leg.dialled);
        leg.attach(quiet);
        leg.ring();
        void leg.answer(sdp);
      });
      const line = await phone(signalling, transport);
      await line.register();
      expect(signalling.isRegistered('alice')).toBe(true);
      const report = await call(line, { digits: '5' });
      expect(dialled).toEqual(['1000']);
      expect(report.end).toMatchObject({ by: 'local', how: 'bye' });
      expect(isEchoReceived(report)).toBe(true);
      expect(report.echo?.delayMs).toBeGreaterThan(ECHO_MS - 10);
      expect(report.echo?.delayMs).toBeLessThan(ECHO_MS + 60);
      // Every 25th packet is lost, and the eight DTMF packets are not echoed.
      expect(report.reception.lost).toBeGreaterThanOrEqual(8 + 2);
      expect(report.reception.lost).toBeLessThanOrEqual(8 + 7);
      expect(Object.fromEntries(callRows(report))['echo received']).toMatch(/^yes/);
      expect(keys.length).toBe(8);
      expect(keys.at(-1)).toEqual([5, 0x8a, 800 >> 8, 800 & 0xff]);
      await line.unregister();
      expect(signalling.isRegistered('alice')).toBe(false);
    }));
});

describe('failing calls', () => {
  it('reports a wrong password in one clear line', async () => {
    const line = await phone(await server(() => undefined), 'udp', 'looking-glass');
    await expect(line.register()).rejects.toThrow(/registration at .* failed: refused with 40[13]/);
  });

  it('reports no setup time and no echo for a refused call', async () => {
    const signalling = await server((leg) => {
      leg.attach(quiet);
      leg.hangup('busy');
    });
    const report = await call(await phone(signalling, 'udp'));
    expect(report.setupMs).toBeUndefined();
    expect(report.end).toMatchObject({ by: 'remote', how: 'refused', status: 486 });
    expect(isEchoReceived(report)).toBe(false);
  });

  it('ends the call when the other side hangs up', async () => {
    const { sdp } = await echo();
    const signalling = await server((leg) => {
      leg.attach(quiet);
      void leg.answer(sdp).then(() => leg.hangup('normal'));
    });
    const report = await call(await phone(signalling, 'udp'));
    expect(report.end).toMatchObject({ by: 'remote', how: 'bye' });
    expect(report.talkedMs).toBeLessThan(1000);
  });

  it('cancels the call on an interrupt while it rings', async () => {
    const interrupt = new AbortController();
    const signalling = await server((leg) => {
      leg.attach(quiet);
      leg.ring();
    });
    const report = await call(await phone(signalling, 'udp'), {
      signal: interrupt.signal,
      progress: (line) => {
        if (line.includes('ringing')) interrupt.abort();
      },
    });
    expect(report.end).toMatchObject({ by: 'local', how: 'cancel' });
  });
});
