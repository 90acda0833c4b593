/**
 * Signalling behavior for every message transport: `signalling.test.ts` runs these tests with local sockets,
 * `drachtio.test.ts` with drachtio-server.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type {
  LegEnd,
  LegEvents,
  OutboundLegEvents,
  RespondingPeer,
} from '../../../src/domain/call/needs.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { until } from '../../eventually.ts';
import {
  authenticated,
  carrier,
  headerOf,
  QUIET,
  type RequestLines,
  type Rig,
  requestText,
  SDP,
  TcpPeer,
  UdpPeer,
  type WirePeer,
} from './rig.ts';

type StartRig = (options?: Partial<SignallingOptions>) => Promise<Rig>;

/** Rigs and peers of one file, closed after each test. */
export function stageOf(start: StartRig) {
  const running: Rig[] = [];
  const peers: { close(): void }[] = [];
  afterEach(async () => {
    for (const peer of peers.splice(0)) peer.close();
    for (const rig of running.splice(0)) await rig.signalling.stop();
  });
  const retained = <P extends { close(): void }>(peer: P): P => {
    peers.push(peer);
    return peer;
  };
  return {
    retained,
    rigOf: async (options: Partial<SignallingOptions> = {}): Promise<Rig> => {
      const rig = await start(options);
      running.push(rig);
      return rig;
    },
    udp: async (rig: Rig): Promise<UdpPeer> => retained(await UdpPeer.open(rig.signalling.port())),
    tcp: async (rig: Rig): Promise<TcpPeer> => retained(await TcpPeer.open(rig.signalling.port())),
  };
}

export const home = (rig: Rig, user = ''): string =>
  `sip:${user === '' ? '' : `${user}@`}127.0.0.1:${rig.signalling.port()}`;

export async function register(rig: Rig, peer: WirePeer, user = 'alice', password = 'wonderland') {
  const uri = home(rig);
  const lines = {
    method: 'REGISTER',
    uri,
    to: `<sip:${user}@127.0.0.1>`,
    callId: `reg-${user}-${peer.port}`,
  };
  await authenticated(peer, { ...lines, user, password });
  return peer.read('200');
}

/** Response of a scripted peer to a request that it received. */
export function answer(
  request: string,
  status: string,
  more: readonly string[] = [],
  body = '',
): string {
  const copied = request
    .split('\r\n')
    .filter((line) => /^(via|from|call-id|cseq|record-route): /i.test(line));
  return [
    `SIP/2.0 ${status}`,
    ...copied,
    `To: ${headerOf(request, 'To')};tag=callee`,
    ...more,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

export function recorder() {
  const log: string[] = [];
  const ends: LegEnd[] = [];
  const responders: RespondingPeer[] = [];
  const events: OutboundLegEvents = {
    ...QUIET,
    heardFrom: (peer) => responders.push(peer),
    progress: (status) => log.push(`progress ${status}`),
    connected: (sdp) => {
      log.push(`connected ${sdp === SDP}`);
      return undefined;
    },
    ended: (end) => {
      ends.push(end);
      log.push(`ended ${end.how}`);
    },
  };
  return { log, ends, responders, events };
}

export const DIAL = { from: { user: '15550100', displayName: 'Caller' }, sdp: SDP, headers: [] };

interface CallOptions {
  readonly callId?: string;
  readonly more?: readonly string[];
  readonly events?: Partial<LegEvents>;
  /** Port of the server that the peer calls. */
  readonly port?: number;
}

/** Calls as Alice from that peer. */
export async function call(rig: Rig, peer: WirePeer, options: CallOptions = {}) {
  const { callId = 'call', more = [], port = rig.signalling.port() } = options;
  const ends: LegEnd[] = [];
  const events = { ...QUIET, ended: (end: LegEnd) => ends.push(end), ...options.events };
  rig.onLeg = (leg) => leg.attach(events);
  const waiting = rig.nextLeg();
  const uri = `sip:100@127.0.0.1:${port}`;
  await authenticated(peer, { method: 'INVITE', uri, callId, body: SDP, more });
  return { leg: await waiting, ends, invite: { uri, callId } };
}

/** Calls and is answered. `inside` builds a request of hers in the dialog. */
export async function talk(rig: Rig, peer: WirePeer, options: CallOptions = {}) {
  const { leg, ends, invite } = await call(rig, peer, options);
  const answered = leg.answer(SDP);
  const ok = await peer.read('200');
  const uri = /<(.*)>/.exec(headerOf(ok, 'Contact'))?.[1] ?? '';
  const dialog = { uri, to: headerOf(ok, 'To'), callId: invite.callId };
  peer.write(requestText(peer, { ...dialog, method: 'ACK', cseq: 2 }));
  await answered;
  let cseq = 2;
  const inside = (method: string, lines: Partial<RequestLines> = {}): void => {
    cseq += 1;
    peer.write(requestText(peer, { ...dialog, method, cseq, ...lines }));
  };
  return { leg, ends, inside };
}

export function signallingStories(start: StartRig): void {
  const { rigOf, udp, tcp } = stageOf(start);

  describe('registration', () => {
    it.each(['udp', 'tcp'] as const)(
      'over %s with digest is stored and counted as registered',
      async (kind) => {
        const rig = await rigOf();
        const peer = await (kind === 'udp' ? udp(rig) : tcp(rig));
        const ok = await register(rig, peer);
        expect(headerOf(ok, 'Contact')).toContain('expires=3600');
        expect(rig.signalling.isRegistered('alice')).toBe(true);
        expect(rig.signalling.isRegistered('bob')).toBe(false);
        expect([...rig.bindings.rows.values()]).toMatchObject([
          { username: 'alice', flow: { transport: kind, address: '127.0.0.1', port: peer.port } },
        ]);
        expect(rig.signalling.registrations()).toHaveLength(1);
      },
    );

    it('is loaded by the next process', async () => {
      const rig = await rigOf();
      await register(rig, await udp(rig));
      const next = await rigOf({ bindings: rig.bindings });
      expect(next.signalling.isRegistered('alice')).toBe(true);
    });
  });

  describe('busy lamps', () => {
    it('notify one phone when another one of its account is called', async () => {
      const rig = await rigOf();
      const [alice, bob] = [await udp(rig), await udp(rig)];
      await register(rig, bob, 'bob', 'builder');
      await authenticated(alice, {
        method: 'SUBSCRIBE',
        uri: home(rig, 'bob'),
        callId: 'lamp',
        password: 'wonderland',
        more: ['Event: dialog', 'Expires: 600', 'Accept: application/dialog-info+xml'],
      });
      expect(headerOf(await alice.read('200'), 'Expires')).toBe('600');
      const idle = await alice.read('NOTIFY');
      expect(idle).toContain('<state>terminated</state>');
      const copied = idle
        .split('\r\n')
        .filter((line) => /^(via|from|to|call-id|cseq): /i.test(line));
      alice.write(['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''].join('\r\n'));
      rig.signalling.invite({ kind: 'endpoint', username: 'bob' }, DIAL, recorder().events);
      const rings = await alice.read('NOTIFY');
      expect(rings).toContain('<state>trying</state>');
      expect(headerOf(rings, 'Content-Type')).toBe('application/dialog-info+xml');
    });
  });

  describe('inbound legs', () => {
    async function calling(rig: Rig, peer: WirePeer, more: readonly string[] = []) {
      const waiting = rig.nextLeg();
      const uri = home(rig, '100');
      await authenticated(peer, { method: 'INVITE', uri, callId: 'in-1', body: SDP, more });
      return waiting;
    }

    it.each(['udp', 'tcp'] as const)(
      'over %s: digest, ringing, answer resolved by the ACK, BYE',
      async (kind) => {
        const rig = await rigOf();
        const ended: LegEnd[] = [];
        rig.onLeg = (leg) => leg.attach({ ...QUIET, ended: (end) => ended.push(end) });
        const peer = await (kind === 'udp' ? udp(rig) : tcp(rig));
        const leg = await calling(rig, peer, [
          'X-PH-Color: red',
          'X-Other: no',
          'User-Agent: Phone/1',
        ]);
        expect(leg).toMatchObject({
          sipCallId: 'in-1',
          dialled: '100',
          endpointUsername: 'alice',
          carrier: undefined,
          userAgent: 'Phone/1',
          headers: [
            ['X-PH-Color', 'red'],
            ['X-Other', 'no'],
          ],
          sdp: SDP,
          from: { uri: 'sip:alice@127.0.0.1', user: 'alice', host: '127.0.0.1' },
          source: { transport: kind, address: '127.0.0.1', port: peer.port },
        });
        leg.ring();
        await peer.read('180');
        const answered = leg.answer(SDP);
        const ok = await peer.read('200');
        const uri = /<(.*)>/.exec(headerOf(ok, 'Contact'))?.[1] ?? '';
        const dialog = { uri, to: headerOf(ok, 'To'), callId: 'in-1' };
        peer.write(requestText(peer, { ...dialog, method: 'ACK', cseq: 2 }));
        expect(await answered).toEqual({ ok: true, value: undefined });
        peer.write(requestText(peer, { ...dialog, method: 'BYE', cseq: 3 }));
        await peer.read('200');
        await until(() => ended.length === 1);
        expect(ended[0]).toMatchObject({ by: 'remote', how: 'bye' });
        expect(rig.signalling.counters().legs).toBe(0);
      },
    );

    it('without a handler is refused with 500', async () => {
      const rig = await rigOf();
      rig.onLeg = () => undefined;
      const peer = await udp(rig);
      await calling(rig, peer);
      await peer.read('500');
    });

    it('hung up before the answer gets the status of its cause; answer() returns the end', async () => {
      const rig = await rigOf();
      const peer = await udp(rig);
      const leg = await calling(rig, peer);
      leg.hangup('busy');
      leg.hangup('rejected');
      await peer.read('486');
      const result = await leg.answer(SDP);
      expect(result).toMatchObject({
        ok: false,
        error: { by: 'local', how: 'refused', status: 486 },
      });
    });

    it('from a carrier needs no digest and has its name', async () => {
      const rig = await rigOf({
        carriers: () => [carrier({ sourceAddresses: ['127.0.0.0/8'], port: 9 })],
      });
      const peer = await udp(rig);
      const waiting = rig.nextLeg();
      peer.write(
        requestText(peer, {
          method: 'INVITE',
          uri: home(rig, '1555'),
          user: '4930123',
          callId: 'c',
          body: SDP,
        }),
      );
      expect(await waiting).toMatchObject({ carrier: 'north', endpointUsername: undefined });
    });
  });

  describe('a call', () => {
    it('rings with early media and is cancelled by the caller', async () => {
      const rig = await rigOf();
      const peer = await udp(rig);
      const { leg, ends, invite } = await call(rig, peer);
      leg.ring(SDP);
      const ringing = await peer.read('183');
      expect(ringing).toContain(SDP);
      const branch = /branch=([^;\r]+)/.exec(headerOf(ringing, 'Via'))?.[1] ?? '';
      peer.write(requestText(peer, { ...invite, method: 'CANCEL', cseq: 2, branch }));
      expect(headerOf(await peer.read('200'), 'CSeq')).toBe('2 CANCEL');
      await peer.read('487');
      await until(() => ends.length === 1);
      expect(ends[0]).toMatchObject({ by: 'remote', how: 'cancel' });
    });

    it('receives digits by INFO, and is held and resumed by re-INVITE', async () => {
      const rig = await rigOf();
      const peer = await udp(rig);
      const keys: string[] = [];
      const offers: (string | undefined)[] = [];
      const { inside, leg, ends } = await talk(rig, peer, {
        events: {
          dtmf: (digit, durationMs) => keys.push(`${digit} ${durationMs}`),
          offered: (sdp) => {
            offers.push(sdp);
            return SDP.replace('m=', 'a=recvonly\r\nm=');
          },
        },
      });
      const body = 'Signal=5\r\nDuration=160\r\n';
      inside('INFO', { body, more: ['Content-Type: application/dtmf-relay'] });
      expect(headerOf(await peer.read('200'), 'CSeq')).toBe('3 INFO');
      expect(keys).toEqual(['5 160']);
      const hold = `${SDP}a=sendonly\r\n`;
      inside('INVITE', { body: hold });
      const ok = await peer.read('200');
      expect(headerOf(ok, 'CSeq')).toBe('4 INVITE');
      expect(ok).toContain('a=recvonly');
      expect(offers).toEqual([hold]);
      inside('ACK', { cseq: 4 });
      leg.hangup('normal');
      peer.write(answer(await peer.read('BYE'), '200 OK'));
      await until(() => ends.length === 1);
    });

    it('is cancelled with the reason if unanswered', async () => {
      const rig = await rigOf();
      const phone = await udp(rig);
      await register(rig, phone);
      const { log, events } = recorder();
      const leg = rig.signalling.invite({ kind: 'endpoint', username: 'alice' }, DIAL, events);
      const invite = await phone.read('INVITE');
      phone.write(answer(invite, '180 Ringing'));
      await until(() => log.length === 1);
      leg.hangup('ringTimeout');
      const cancel = await phone.read('CANCEL');
      expect(headerOf(cancel, 'Reason')).toContain('Q.850;cause=19');
      phone.write(answer(cancel, '200 OK'));
      phone.write(answer(invite, '487 Request Terminated'));
      await phone.read('ACK');
      await until(() => log.length === 2);
      expect(rig.signalling.counters()).toMatchObject({ legs: 0 });
    });

    it('is transferred by REFER and receives the outcome', async () => {
      const rig = await rigOf();
      const peer = await udp(rig);
      const requested: string[] = [];
      const { inside } = await talk(rig, peer, {
        events: {
          referred: (refer) => {
            requested.push(refer.to);
            refer.accept();
            refer.succeeded();
          },
        },
      });
      inside('REFER', { more: ['Refer-To: <sip:200@127.0.0.1>'] });
      expect(headerOf(await peer.read('202'), 'CSeq')).toBe('3 REFER');
      const reported = await peer.read('NOTIFY');
      expect(requested).toEqual(['sip:200@127.0.0.1']);
      peer.write(answer(reported, '200 OK'));
      expect(await peer.read('NOTIFY')).toContain('SIP/2.0 200');
    });
  });

  describe('texts', () => {
    it('is authenticated and delivered to the phone', async () => {
      const rig = await rigOf();
      const peer = await udp(rig);
      const texts: string[] = [];
      rig.signalling.texts.onText((text) => {
        texts.push(`${text.endpointUsername} ${Buffer.from(text.body)}`);
        text.answer(202);
      });
      const uri = home(rig, 'bob');
      const more = ['Content-Type: text/plain'];
      await authenticated(peer, { method: 'MESSAGE', uri, callId: 'text', body: 'hello', more });
      await peer.read('202');
      expect(texts).toEqual(['alice hello']);
      await register(rig, peer);
      const sent = rig.signalling.texts.sendText({
        username: 'alice',
        from: { user: 'bob', displayName: '' },
        headers: [],
        contentType: 'text/plain',
        body: Buffer.from('hi'),
      });
      const message = await peer.read('MESSAGE');
      expect(message).toContain('\r\n\r\nhi');
      peer.write(answer(message, '200 OK'));
      expect(await sent).toBe(200);
    });
  });

  describe('outbound legs', () => {
    it('reach a registered endpoint over the connection of its registration', async () => {
      const rig = await rigOf();
      const phone = await tcp(rig);
      await register(rig, phone);
      const { log, events } = recorder();
      const leg = rig.signalling.invite({ kind: 'endpoint', username: 'alice' }, DIAL, events);
      const invite = await phone.read('INVITE');
      expect(headerOf(invite, 'From')).toContain('"Caller" <sip:15550100@127.0.0.1>');
      phone.write(answer(invite, '180 Ringing'));
      const contact = [`Contact: <sip:alice@127.0.0.1:${phone.port};transport=tcp>`];
      phone.write(answer(invite, '200 OK', contact, SDP));
      await phone.read('ACK');
      leg.hangup('normal');
      const bye = await phone.read('BYE');
      expect(headerOf(bye, 'Reason')).toContain('Q.850;cause=16');
      phone.write(answer(bye, '200 OK'));
      await until(() => log.length === 3);
      expect(log).toEqual(['progress 180', 'connected true', 'ended bye']);
      expect(leg.sipCallId).toBe(headerOf(invite, 'Call-ID'));
    });

    it('reach a carrier with its digits, identity and headers, and answer its digest', async () => {
      const far = await rigOf();
      const peer = await udp(far);
      const north = carrier({
        port: peer.port,
        strip: 2,
        prepend: '00',
        auth: { username: 'trunk', password: 'key', register: false },
      });
      const rig = await rigOf({ carriers: () => [north] });
      const back = await udp(rig);

      const { ends, responders, events } = recorder();
      const headers = [['X-VH-Id', 'a\r\nEvil: yes']] as const;
      rig.signalling.invite(
        { kind: 'carrier', carrier: 'north', number: '4930123' },
        { ...DIAL, headers },
        events,
      );
      const invite = await peer.read('INVITE');
      expect(invite.split('\r\n')[0]).toBe(`INVITE sip:0030123@127.0.0.1:${peer.port} SIP/2.0`);
      expect(headerOf(invite, 'P-Asserted-Identity')).toBe('<sip:15550100@127.0.0.1>');
      expect(headerOf(invite, 'X-VH-Id')).toBe('a Evil: yes');
      const challenge = 'WWW-Authenticate: Digest realm="c", nonce="n", qop="auth"';
      const reply = (request: string, status: string, more: readonly string[] = []): void => {
        const port = Number(/:(\d+)/.exec(headerOf(request, 'Via'))?.[1]);
        expect(port).toBe(rig.signalling.port());
        back.write(answer(request, status, more));
      };
      reply(invite, '401 Unauthorized', [challenge]);
      await peer.read('ACK');
      const again = await peer.read('INVITE');
      expect(headerOf(again, 'Authorization')).toContain('username="trunk"');
      reply(again, '404 Not Found', ['Server: North/3']);
      await until(() => ends.length === 1);
      expect(responders).toEqual([
        {
          source: { transport: 'udp', address: '127.0.0.1', port: peer.port },
          userAgent: 'North/3',
          isOfferedIpv6: false,
        },
      ]);
      expect(ends[0]).toMatchObject({
        by: 'remote',
        how: 'refused',
        status: 404,
        reason: 'Not Found',
      });
    });

    it.each([
      ['an endpoint that is not registered', { kind: 'endpoint', username: 'bob' }],
      ['a carrier that does not exist', { kind: 'carrier', carrier: 'south', number: '1' }],
      ['an invalid URI', { kind: 'uri', uri: 'not a uri' }],
    ] as const)('to %s end as unreachable, in a later turn', async (_, target) => {
      const rig = await rigOf();
      const { ends, events } = recorder();
      rig.signalling.invite(target, DIAL, events);
      expect(ends).toEqual([]);
      await until(() => ends.length === 1);
      expect(ends[0]).toMatchObject({ how: 'unreachable' });
    });
  });

  describe('the service', () => {
    it('drains: OPTIONS 200 before, 503 after, and not ready', async () => {
      const rig = await rigOf();
      const peer = await udp(rig);
      const options = (callId: string) =>
        requestText(peer, { method: 'OPTIONS', uri: home(rig), callId });
      expect(rig.signalling.ready()).toBe(true);
      peer.write(options('o1'));
      await peer.read('200');
      rig.signalling.drain();
      peer.write(options('o2'));
      await peer.read('503');
      expect(rig.signalling.ready()).toBe(false);
    });

    it('counts messages and traces those of authenticated peers', async () => {
      const traces: string[] = [];
      const rig = await rigOf({
        traces: {
          note: ({ direction, bytes, callId }) => traces.push(`${direction} ${callId} ${bytes}`),
          belongs: () => undefined,
        },
      });
      const peer = await udp(rig);
      await register(rig, peer);
      expect(traces).toHaveLength(2);
      expect(traces[0]).toContain(`in reg-alice-${peer.port} REGISTER`);
      expect(rig.signalling.counters().messages).toContainEqual({
        direction: 'in',
        transport: 'udp',
        method: 'REGISTER',
        code: '',
        count: 2,
      });
    });

    it('probes its carriers and reports their state', async () => {
      const far = await rigOf();
      const carriers = [carrier({ name: 'up', port: far.signalling.port() })];
      const rig = await rigOf({ carriers: () => carriers });
      await until(() => rig.signalling.carrierStates()[0]?.reachable === true);
      expect(rig.signalling.carrierStates()).toMatchObject([
        { name: 'up', lastStatus: 200, registered: undefined },
      ]);
    });

    it('registers with a carrier that requires it', async () => {
      const far = await rigOf();
      const auth = { username: 'alice', password: 'wonderland', register: true };
      const carriers = [carrier({ name: 'reg', port: far.signalling.port(), auth })];
      const rig = await rigOf({ carriers: () => carriers });
      await until(() => rig.signalling.carrierStates()[0]?.registered === true);
      expect(far.signalling.isRegistered('alice')).toBe(true);
    });
  });
}
