/** Destination checks for customers' SIP targets on real sockets: a refused destination gets no byte. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { LegEnd } from '../../../src/domain/call/needs.ts';
import { createDestinationGuard } from '../../../src/edge/egress/egress.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { until } from '../../eventually.ts';
import {
  authenticated,
  carrier,
  headerOf,
  QUIET,
  type Rig,
  requestText,
  SDP,
  startRig,
  UdpPeer,
} from './rig.ts';

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const nobody = async () => [];

/** Starts a rig that treats loopback as forbidden, as if bound to a public address. */
async function rigOf(
  options: Partial<SignallingOptions> & { allow?: string[]; local?: boolean } = {},
): Promise<Rig> {
  const { allow = [], local = false, ...rest } = options;
  const own = {
    isAddress: () => false,
    isListening: (port: number) => port === rig.signalling.port(),
    isRtpRange: () => false,
  };
  const rig: Rig = await startRig({
    egress: createDestinationGuard({ allow, allowLoopback: local, own }),
    ...rest,
  });
  closing.push(() => rig.signalling.stop());
  return rig;
}

/** A program that is not a phone; records everything received by UDP and TCP. */
async function victim() {
  const got: string[] = [];
  const server = createServer((socket) => {
    got.push('connection');
    socket.on('data', (bytes) => got.push(bytes.toString('latin1')));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const socket = createSocket('udp4').on('message', (bytes) => got.push(bytes.toString('latin1')));
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  closing.push(() => {
    server.close();
    socket.close();
  });
  return { port, got };
}

async function udp(rig: Rig): Promise<UdpPeer> {
  const peer = await UdpPeer.open(rig.signalling.port());
  closing.push(() => peer.close());
  return peer;
}

function dial(rig: Rig, uri: string, allow?: readonly string[]) {
  const ends: LegEnd[] = [];
  const leg = rig.signalling.invite(
    { kind: 'uri', uri, ...(allow === undefined ? {} : { allow }) },
    { from: { user: '15550100', displayName: '' }, sdp: SDP, headers: [] },
    {
      ...QUIET,
      progress: () => undefined,
      connected: () => undefined,
      ended: (end) => ends.push(end),
    },
  );
  return { leg, ends };
}

async function refusal(rig: Rig, uri: string): Promise<string> {
  const { ends } = dial(rig, uri);
  await until(() => ends.length === 1);
  expect(ends[0]).toMatchObject({ by: 'local', how: 'notAllowed', status: undefined });
  return ends[0]?.reason ?? '';
}

const answer = (request: string, status: string, more: readonly string[] = [], body = ''): string =>
  [
    `SIP/2.0 ${status}`,
    `Via: ${headerOf(request, 'Via')}`,
    `From: ${headerOf(request, 'From')}`,
    `To: ${headerOf(request, 'To')};tag=far`,
    `Call-ID: ${headerOf(request, 'Call-ID')}`,
    `CSeq: ${headerOf(request, 'CSeq')}`,
    ...more,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');

describe('a SIP URI of a customer', () => {
  it.each(['', ';transport=tcp'])('to a forbidden address sends no byte%s', async (params) => {
    const rig = await rigOf();
    const { port, got } = await victim();
    const why = await refusal(rig, `sip:a@127.0.0.1:${port}${params}`);
    expect(why).toBe('127.0.0.1 is a loopback address');
    await refusal(
      rig,
      `sip:a@voice.example;maddr=127.0.0.1:${port}${params}`.replace(`:${port}`, ''),
    );
    expect(got).toEqual([]);
  });

  it('is refused for every DNS result: A, SRV and a changed one', async () => {
    const { port, got } = await victim();
    const answers: Record<string, string[]> = { 'in.example': ['127.0.0.1'], 'mix.example': [] };
    const rig = await rigOf({
      dns: {
        naptr: nobody,
        srv: async (name) =>
          name === '_sip._udp.srv.example'
            ? [{ priority: 1, weight: 1, name: 'in.example', port }]
            : [],
        addresses: async (name) => answers[name] ?? [],
      },
    });
    expect(await refusal(rig, `sip:a@in.example:${port}`)).toBe(
      'in.example: 127.0.0.1 is a loopback address',
    );
    expect(await refusal(rig, 'sip:a@srv.example')).toContain('loopback');
    expect(got).toEqual([]);
  });

  it('never reaches the service itself, even if loopback is allowed', async () => {
    const rig = await rigOf({ local: true });
    const port = rig.signalling.port();
    expect(await refusal(rig, `sip:a@127.0.0.2:${port}`)).toContain('this service');
    expect(rig.legs).toHaveLength(0);
    const peer = await udp(rig);
    dial(rig, `sip:a@127.0.0.1:${peer.port}`);
    await peer.read('INVITE');
  });

  it('reaches an address that the operator allows for that trunk', async () => {
    const rig = await rigOf();
    const peer = await udp(rig);
    dial(rig, `sip:a@127.0.0.1:${peer.port}`, ['127.0.0.1']);
    await peer.read('INVITE');
  });

  it('cannot reach a carrier by its name, its address or another name for it', async () => {
    const { port, got } = await victim();
    const rig = await rigOf({
      local: true,
      allow: ['198.51.100.0/24'],
      carriers: () => [
        carrier({ port, sourceAddresses: ['198.51.100.0/28'] }),
        carrier({ name: 'south', host: 'south.example', sourceAddresses: [] }),
      ],
      dns: {
        naptr: nobody,
        srv: nobody,
        addresses: async (name) => (/south\.example\.?$/i.test(name) ? ['198.51.100.77'] : []),
      },
    });
    for (const place of [
      `127.0.0.1:${port}`,
      `127.0.0.1:${port};transport=tcp`,
      '198.51.100.3',
      'SOUTH.example.',
      'alias.south.example',
      '198.51.100.77:5090',
    ]) {
      expect(await refusal(rig, `sip:88212345678@${place}`)).toMatch(/address of carrier/);
    }
    expect(rig.signalling.addresses.read('sip:%388@198.51.100.77:5090')).toMatchObject({
      whose: 'carrier',
      user: '88',
    });
    expect(rig.signalling.addresses.read('sip:88@South.example')).toMatchObject({
      whose: 'carrier',
    });
    // The carrier receives only probes.
    expect(got.filter((text) => !text.startsWith('OPTIONS'))).toEqual([]);
  });
});

describe('a peer of a customer', () => {
  it('gets requests at the source of its response, whatever its Contact and Record-Route contain', async () => {
    const rig = await rigOf({ allow: ['127.0.0.1'] });
    const { port, got } = await victim();
    const peer = await udp(rig);
    const { leg } = dial(rig, `sip:a@127.0.0.1:${peer.port}`);
    const invite = await peer.read('INVITE');
    const more = [`Contact: <sip:a@127.0.0.2:${port}>`, `Record-Route: <sip:127.0.0.3:${port};lr>`];
    peer.write(answer(invite, '200 OK', more, SDP));
    await peer.read('ACK');
    leg.hangup('normal');
    await peer.read('BYE');
    expect(got).toEqual([]);
  });

  it('gets BYE at the source of its call', async () => {
    const rig = await rigOf();
    const { port, got } = await victim();
    const phone = await udp(rig);
    const waiting = rig.nextLeg();
    const lines = { method: 'INVITE', uri: 'sip:1@127.0.0.1', callId: 'c1', body: SDP };
    await authenticated(phone, { ...lines, more: [`Record-Route: <sip:127.0.0.1:${port};lr>`] });
    const leg = await waiting;
    const answered = leg.answer(SDP);
    const ok = await phone.read('200 OK');
    phone.write(
      requestText(phone, { ...lines, method: 'ACK', cseq: 2, to: headerOf(ok, 'To'), body: '' }),
    );
    await answered;
    leg.hangup('normal');
    await phone.read('BYE');
    expect(got).toEqual([]);
  });

  it('with a Path elsewhere is called at the source of its registration', async () => {
    const rig = await rigOf();
    const { port, got } = await victim();
    const phone = await udp(rig);
    await authenticated(phone, {
      method: 'REGISTER',
      uri: 'sip:127.0.0.1',
      to: '<sip:alice@127.0.0.1>',
      callId: 'r1',
      more: ['Supported: path', `Path: <sip:127.0.0.1:${port};lr>`],
    });
    await phone.read('200');
    rig.signalling.invite(
      { kind: 'endpoint', username: 'alice' },
      { from: { user: '1', displayName: '' }, sdp: SDP, headers: [] },
      { ...QUIET, progress: () => undefined, connected: () => undefined },
    );
    await phone.read('INVITE');
    expect(got).toEqual([]);
  });
});
