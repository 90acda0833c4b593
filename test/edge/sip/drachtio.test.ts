import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import {
  type DrachtioOptions,
  drachtioWire,
  serversOf,
} from '../../../src/edge/sip/drachtio/drachtio-wire.ts';
import { FrameReader, frame, readPayload } from '../../../src/edge/sip/drachtio/frames.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { DrachtioServer } from '../../drachtio/drachtio-server.ts';
import { until } from '../../eventually.ts';
import { SimClock } from '../../sim/clock.ts';
import { limitStories } from './drachtio-limits.ts';
import { headerOf, type Rig, requestText, SDP, startRig, UdpPeer } from './rig.ts';
import {
  answer,
  call,
  DIAL,
  recorder,
  register,
  signallingStories,
  stageOf,
  talk,
} from './scenarios.ts';

const servers: DrachtioServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function newServer(): Promise<DrachtioServer> {
  const server = await DrachtioServer.open();
  servers.push(server);
  return server;
}

const over = (fleet: readonly DrachtioServer[], more: Partial<DrachtioOptions> = {}) =>
  drachtioWire({
    servers: fleet.map(({ controlPort: port }) => ({ host: '127.0.0.1', port })),
    secret: 'cymru',
    graceMs: 1000,
    ...more,
  });

async function startOver(options: Partial<SignallingOptions> = {}): Promise<Rig> {
  const server = await newServer();
  return startRig({ ...options, wire: over([server]), port: server.sipPort });
}

signallingStories(startOver);
limitStories(startOver);

const { rigOf, udp, retained } = stageOf(startRig);

describe('drachtio-server', () => {
  it('gets no new calls for a draining node', async () => {
    const server = await newServer();
    const rig = await rigOf({ wire: over([server]), port: server.sipPort });
    // The server is up only after it knows which requests to deliver; earlier ones get 503 from it.
    expect(server.routes.size).toBe(7);
    rig.signalling.drain();
    await until(() => !server.routes.has('invite'));
    expect(server.routes.has('register')).toBe(true);
  });

  it('handles session timers and reliable provisional responses itself', async () => {
    const server = await newServer();
    const rig = await rigOf({ wire: over([server]), port: server.sipPort });
    const peer = await udp(rig);
    const more = ['Require: 100rel', 'Supported: timer', 'Session-Expires: 1800'];
    const { leg, invite } = await call(rig, peer, { more });
    leg.ring(SDP);
    const ringing = await peer.read('183');
    expect([headerOf(ringing, 'Require'), headerOf(ringing, 'RSeq')]).toEqual(['100rel', '1']);
    const dialog = { uri: invite.uri, to: headerOf(ringing, 'To'), callId: invite.callId };
    peer.write(
      requestText(peer, { ...dialog, method: 'PRACK', cseq: 3, more: ['RAck: 1 2 INVITE'] }),
    );
    expect(headerOf(await peer.read('200'), 'CSeq')).toBe('3 PRACK');
    void leg.answer(SDP);
    expect(headerOf(await peer.read('200'), 'Session-Expires')).toBe('');
  });

  it('ends a call when it reports the end of a dialog', async () => {
    const server = await newServer();
    const rig = await rigOf({ wire: over([server]), port: server.sipPort });
    const peer = await udp(rig);
    const { ends } = await talk(rig, peer);
    server.endBySelf();
    await until(() => ends.length === 1);
    expect(ends[0]).toMatchObject({
      how: 'transport',
      reason: 'drachtio-server has ended the dialog',
    });
    expect(rig.signalling.counters().legs).toBe(0);
  });

  it('unavailable: not ready, new calls fail immediately, active calls end after the grace period', async () => {
    const clock = new SimClock();
    const server = await newServer();
    const { controlPort } = server;
    const graceMs = 30_000;
    const rig = await rigOf({ wire: over([server], { graceMs }), port: server.sipPort, clock });
    const peer = await udp(rig);
    const { ends } = await talk(rig, peer);
    server.closeControl();
    await until(() => !rig.signalling.ready());
    expect(rig.signalling.detail).toBe(
      `0 of 1 drachtio servers connected; 127.0.0.1:${controlPort}: the server closed the connection`,
    );
    const failed = recorder();
    const target = { kind: 'uri', uri: `sip:a@127.0.0.1:${peer.port}` } as const;
    rig.signalling.invite(target, DIAL, failed.events);
    await until(() => failed.ends.length === 1);
    expect(failed.ends[0]).toMatchObject({ how: 'transport' });
    await clock.advance(graceMs - 1);
    expect(ends).toEqual([]);
    await clock.advance(1);
    await until(() => ends.length === 1);
    expect(ends[0]).toMatchObject({ how: 'transport', reason: 'drachtio-server is unavailable' });
  });

  it('reconnected within the grace period: calls continue and can be ended; lost dialogs end', async () => {
    const clock = new SimClock();
    const server = await newServer();
    const { controlPort } = server;
    const rig = await rigOf({ wire: over([server]), port: server.sipPort, clock });
    const [stays, goes] = [await udp(rig), await udp(rig)];
    const first = await talk(rig, stays, { callId: 'stays' });
    const second = await talk(rig, goes, { callId: 'goes' });
    server.closeControl();
    await until(() => !rig.signalling.ready());
    for (const [id, { callId }] of server.dialogs) if (callId === 'goes') server.dialogs.delete(id);
    await server.openControl(controlPort);
    await clock.advance(250);
    await until(() => second.ends.length === 1);
    expect(second.ends[0]).toMatchObject({ reason: 'drachtio-server has lost the dialog' });
    expect([first.ends, rig.signalling.ready()]).toEqual([[], true]);
    first.leg.hangup('normal');
    expect(headerOf(await stays.read('BYE'), 'Reason')).toContain('cause=16');
  });

  it('reports a wrong secret and delays the next attempt', async () => {
    const clock = new SimClock();
    const warned: unknown[] = [];
    const server = await newServer();
    const wire = over([server], { secret: 'wrong' });
    const logger = { ...silentLogger, warn: (fields: unknown) => warned.push(fields) };
    const starting = rigOf({ wire, port: server.sipPort, clock, logger });
    await until(() => warned.length === 1);
    await clock.advance(2000);
    const rig = await starting;
    expect(rig.signalling.ready()).toBe(false);
    expect(rig.signalling.detail).toContain('the server refuses the secret (drachtio.secret)');
    expect(warned).toMatchObject([{ againInMs: 15_000 }]);
  });

  it('one of two fails: new calls use the other, its own calls end after the grace period', async () => {
    const fleet = [await newServer(), await newServer()] as const;
    const [first, second] = fleet;
    const rig = await rigOf({ wire: over(fleet, { graceMs: 0 }), port: first.sipPort });
    await until(() => rig.signalling.detail.startsWith('2 of 2'));
    const [one, two] = await Promise.all(
      fleet.map(async ({ sipPort }) => retained(await UdpPeer.open(sipPort))),
    );
    if (one === undefined || two === undefined) throw new Error('no peers');
    const mine = await talk(rig, one, { callId: 'first', port: first.sipPort });
    const other = await talk(rig, two, { callId: 'second', port: second.sipPort });
    first.closeControl();
    await until(() => mine.ends.length === 1);
    expect([other.ends, rig.signalling.ready()]).toEqual([[], true]);
    await register(rig, two, 'bob', 'builder');
    const { log, events } = recorder();
    rig.signalling.invite({ kind: 'endpoint', username: 'bob' }, DIAL, events);
    const invite = await two.read('INVITE');
    two.write(answer(invite, '486 Busy Here'));
    await until(() => log.length === 1);
    expect(log).toEqual(['ended refused']);
  });
});

describe('the control protocol', () => {
  it.each([
    ['5060', 5060],
    ['65536', 0],
    ['-1', 0],
    ['1.5', 0],
  ])('reads the source port %s of a message as %i, so that traces can write it', (text, port) => {
    const payload = Buffer.from(`id|sip|network|100|udp|192.0.2.9|${text}|12:00:00|t||\r\nINVITE`);
    expect(readPayload(payload)).toMatchObject({ meta: { address: '192.0.2.9', port } });
  });

  it('extracts payloads for any division of the stream', () => {
    const bytes = Buffer.concat([
      frame(['1', 'ping']),
      frame(['2', 'sip', 'ü'], Buffer.from('x#y')),
    ]);
    for (let at = 0; at <= bytes.length; at += 1) {
      const reader = new FrameReader();
      const parts = [...reader.read(bytes.subarray(0, at)), ...reader.read(bytes.subarray(at))];
      expect(parts.map(String)).toEqual(['1|ping', '2|sip|ü\r\nx#y']);
    }
  });

  it.each(['x#a', '#a', '0#', '9999999#', '-1#a', 'GET / HTTP/1.1\r\n'])('refuses %s', (text) => {
    expect(() => new FrameReader().read(Buffer.from(text))).toThrow('not the protocol');
  });

  it('parses names of servers', () => {
    expect(serversOf(['a', 'b:1', '[::1]:2', '10.0.0.1'])).toEqual([
      { host: 'a', port: 9022 },
      { host: 'b', port: 1 },
      { host: '::1', port: 2 },
      { host: '10.0.0.1', port: 9022 },
    ]);
    for (const texts of [[], ['a b'], ['a:99999'], ['']]) expect(serversOf(texts)).toBeUndefined();
  });
});
