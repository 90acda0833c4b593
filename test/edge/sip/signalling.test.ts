import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { until } from '../../eventually.ts';
import { carrier, requestText, startRig, UdpPeer } from './rig.ts';
import { DIAL, home, recorder, register, signallingStories, stageOf } from './scenarios.ts';

signallingStories(startRig);

const { rigOf, udp, tcp } = stageOf(startRig);

describe('local sockets', () => {
  it('over TCP ends with its connection', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    await register(rig, peer);
    peer.close();
    await until(() => !rig.signalling.isRegistered('alice'));
    await until(() => rig.bindings.rows.size === 0);
  });

  it('to a closed UDP port ends with the first retransmission after an ICMP error', async () => {
    const gone = await UdpPeer.open(0);
    const { port } = gone;
    gone.close();
    const rig = await rigOf({ carriers: () => [carrier({ port })] });
    const { ends, events } = recorder();
    const begunMs = performance.now();
    rig.signalling.invite({ kind: 'carrier', carrier: 'north', number: '1' }, DIAL, events);
    await until(() => ends.length === 1);
    expect(ends).toMatchObject([{ by: 'remote', how: 'transport' }]);
    expect(performance.now() - begunMs).toBeLessThan(2000);
    expect(rig.signalling.isDown({ kind: 'carrier', carrier: 'north', number: '1' })).toBe(true);
  });

  it('to a closed TCP port ends by transport', async () => {
    const rig = await rigOf();
    const { ends, events } = recorder();
    const target = { kind: 'uri', uri: 'sip:a@127.0.0.1:9;transport=tcp' } as const;
    rig.signalling.invite(target, DIAL, events);
    await until(() => ends.length === 1);
    expect(ends[0]).toMatchObject({ how: 'transport' });
  });

  it('reports a port used by another program in one line', async () => {
    const rig = await rigOf();
    const port = rig.signalling.port();
    const second = startRig({ port });
    await expect(second).rejects.toThrow(ServiceError);
    await expect(second).rejects.toThrow(
      `SIP port UDP 127.0.0.1:${port} is in use by another program`,
    );
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const address = blocker.address();
    const taken = typeof address === 'object' && address !== null ? address.port : 0;
    const third = startRig({ port: taken });
    await expect(third).rejects.toThrow(`SIP port TCP 127.0.0.1:${taken} is in use`);
    blocker.close();
  });
});

describe('invalid input over TCP', () => {
  const limits = {
    idleMs: 60_000,
    messageMs: 150,
    unknownIdleMs: 60_000,
    maxUnsentBytes: 65_536,
    maxConnections: 3,
    maxConnectionsPerAddress: 3,
    connectMs: 500,
  };

  it('times out on half a message without affecting other connections', async () => {
    const rig = await rigOf({ connections: limits });
    const [half, silent, good] = [await tcp(rig), await tcp(rig), await tcp(rig)];
    half.write('OPTIONS sip:a SIP/2.0\r\nVia: SIP/2');
    good.write(requestText(good, { method: 'OPTIONS', uri: home(rig), callId: 'g' }));
    await good.read('200');
    await until(() => half.closed && silent.closed);
    expect(good.closed).toBe(false);
  });

  it('answers a message above the limit and closes the connection', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    const text = requestText(peer, { method: 'OPTIONS', uri: home(rig), callId: 'big' });
    peer.write(text.replace('Content-Length: 0', 'Content-Length: 99999999'));
    await peer.read('513');
    await until(() => peer.closed);
  });

  it('answers header fields of 60 KB, and a head above the limit that is still being sent', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    const lines = { method: 'OPTIONS', uri: home(rig), callId: 'long' };
    const filled = (bytes: number) =>
      requestText(peer, {
        ...lines,
        more: Array.from({ length: bytes / 1000 }, (_, i) => `X-Fill-${i}: ${'x'.repeat(985)}`),
      });
    peer.write(filled(60_000));
    await peer.read('200');
    peer.write(filled(300_000));
    await peer.read('513');
    await until(() => peer.closed);
  });

  it('evicts the oldest unknown peer at the limit and keeps registered ones', async () => {
    const rig = await rigOf({ connections: { ...limits, messageMs: 5_000 } });
    const phone = await tcp(rig);
    await register(rig, phone);
    const first = await tcp(rig);
    const second = await tcp(rig);
    const third = await tcp(rig);
    await until(() => first.closed);
    expect([phone.closed, second.closed, third.closed]).toEqual([false, false, false]);
    expect(rig.signalling.counters().connections).toEqual({ tcp: 3 });
  });

  it('closes a further connection immediately if all others are registered', async () => {
    const rig = await rigOf({ connections: { ...limits, maxConnections: 2 } });
    const phones = [await tcp(rig), await tcp(rig)];
    for (const phone of phones) await register(rig, phone);
    const late = await tcp(rig);
    await until(() => late.closed);
    expect(phones.some((phone) => phone.closed)).toBe(false);
  });

  it('limits the idle time of an unknown peer', async () => {
    const rig = await rigOf({ connections: { ...limits, messageMs: 60_000, unknownIdleMs: 100 } });
    const [phone, silent] = [await tcp(rig), await tcp(rig)];
    await register(rig, phone);
    await until(() => silent.closed);
    expect(phone.closed).toBe(false);
  });

  it('answers keep-alives (RFC 5626 §4.4.1)', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    let raw = '';
    peer.socket.on('data', (chunk) => {
      raw += chunk.toString();
    });
    peer.write('\r\n\r\n');
    await until(() => raw === '\r\n');
  });

  it('counts invalid datagrams without a response', async () => {
    const rig = await rigOf();
    const peer = await udp(rig);
    for (const bytes of ['', '\r\n\r\n', 'hello', Uint8Array.of(0, 255, 13, 10)]) peer.write(bytes);
    peer.write(requestText(peer, { method: 'OPTIONS', uri: home(rig), callId: 'after' }));
    await peer.read('200');
    expect(peer.texts).toHaveLength(1);
  });
});
