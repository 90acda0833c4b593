/** The examples over SIP trunks, in both languages, against stand-ins for the vendors' SIP servers. */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { OpusDecoder } from 'opus-decoder';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { carrierSdp, headerOf } from '../e2e/carrier-message.ts';
import { Scene } from '../e2e/scene.ts';
import { eventually, freePort, type Json, Program } from '../e2e/service.ts';
import { loudMs } from '../e2e/tones.ts';
import { parseRtp, purity } from '../edge/media/peer.ts';
import { SrtpContext } from '../edge/media/srtp-peer.ts';
import { certificate, IdentityFolder } from '../edge/sip/certificates.ts';
import { ExampleStage, LANGUAGES, pcm24k } from './examples-stage.ts';
import { type Identity, SipVendor } from './sip-vendor.ts';

const folder = new IdentityFolder();
const USER = '14155550123';
const LIVEKIT = '127.0.0.2';
const CALLER_ID = '14155550100';
let stage: ExampleStage;
let scene: Scene;
let tlsPort: number;
let identity: Identity;
const vendors: SipVendor[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  const authority = await certificate([]);
  const [own, theirs] = [
    await certificate(['127.0.0.1'], authority),
    await certificate(['127.0.0.1', 'wa.meta.vc'], authority),
  ];
  tlsPort = await freePort();
  identity = { ...theirs, ca: authority.cert };
  scene = await Scene.open({
    CARILLON_EGRESS_ALLOW: '127.0.0.0/8',
    CARILLON_SIP_TLS_PORT: String(tlsPort),
    CARILLON_SIP_TLS_CERT_FILE: folder.write('own.crt', own.cert),
    CARILLON_SIP_TLS_KEY_FILE: folder.write('own.key', own.key),
    CARILLON_SIP_TLS_CA_FILE: folder.write('ca.crt', authority.cert),
  });
  stage = new ExampleStage(scene);
  await scene.service.admin('POST', `/accounts/${scene.service.demo.authId}/caller-ids`, {
    number: `+${CALLER_ID}`,
  });
});
afterEach(() => {
  for (const vendor of vendors.splice(0)) vendor.close();
  for (const socket of sockets.splice(0)) socket.close();
});
afterAll(async () => {
  stage.stop();
  await scene.close();
  folder.remove();
});

async function mediaSocket(): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  sockets.push(socket);
  return socket;
}

describe.each(LANGUAGES)('LiveKit (%s)', (language) => {
  it('dials the trunk with its password and passes the ID of the call', async () => {
    const media = await mediaSocket();
    const vendor = await SipVendor.listen({
      host: LIVEKIT,
      username: 'carillon',
      password: 'lk-secret',
      answer: () => carrierSdp(media.address().port),
    });
    vendors.push(vendor);
    const app = await stage.run(`livekit/answer.${language}`, {
      LIVEKIT_SIP: `${LIVEKIT}:${vendor.port}`,
      LIVEKIT_TRANSPORT: 'udp',
      CALLER_ID,
      LIVEKIT_PASSWORD: 'lk-secret',
    });
    const phone = await stage.call(app.url('/answer'));
    const invite = await eventually('the INVITE', () => vendor.invites[0]);
    expect(invite).toMatch(/^INVITE sip:\+14155550199@127\.0\.0\.2:\d+;transport=udp SIP/);
    expect(headerOf(invite, 'x-vh-call')).toMatch(/^[0-9a-f-]{36}$/);
    await once(media, 'message');
    await phone.hangUp();
    await eventually('the BYE', () => vendor.methods.includes('BYE') || undefined);
  });

  it('speaks to the caller when the trunk refuses the password', async () => {
    const vendor = await SipVendor.listen({
      host: LIVEKIT,
      username: 'carillon',
      password: 'other',
      answer: () => carrierSdp(9),
    });
    vendors.push(vendor);
    const app = await stage.run(`livekit/answer.${language}`, {
      LIVEKIT_SIP: `${LIVEKIT}:${vendor.port}`,
      LIVEKIT_TRANSPORT: 'udp',
      CALLER_ID,
      LIVEKIT_PASSWORD: 'wrong',
    });
    const phone = await stage.call(app.url('/answer'));
    await app.printed("the agent's leg: ");
    await phone.ended;
    expect(loudMs(phone.received)).toBeGreaterThan(500);
    expect(vendor.methods.filter((method) => method === 'INVITE')).toHaveLength(2);
    expect(vendor.invites).toEqual([]);
    await phone.close();
  });
});

/** SDP with Opus and SRTP whose key is in the SDP. */
const secureSdp = (port: number, master: Buffer, payloadType: number): string =>
  [
    ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
    `m=audio ${port} RTP/SAVP ${payloadType} 126`,
    `a=rtpmap:${payloadType} opus/48000/2`,
    'a=rtpmap:126 telephone-event/8000',
    `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${master.toString('base64')}`,
    ...['a=ptime:20', 'a=sendrecv', ''],
  ].join('\r\n');

/** Context for the packets that the other side sends, by its SDP. */
function contextOf(sdp: string): SrtpContext {
  const [, key = ''] =
    /a=crypto:\d+ AES_CM_128_HMAC_SHA1_80 inline:([A-Za-z0-9+/=]+)/.exec(sdp) ?? [];
  return new SrtpContext('AES_CM_128_HMAC_SHA1_80', Buffer.from(key, 'base64'));
}

/** Collects decrypted Opus payloads of a socket, and sends each back with the own key. */
function loopback(socket: Socket, master: Buffer, theirs: () => SrtpContext | undefined) {
  const own = new SrtpContext('AES_CM_128_HMAC_SHA1_80', master);
  const payloads: Uint8Array[] = [];
  socket.on('message', (bytes, from) => {
    const context = theirs();
    // RTCP has the types 192 to 223.
    const second = bytes.readUInt8(1);
    if (context === undefined || (second >= 192 && second <= 223)) return;
    const packet = context.unprotect(bytes, 0);
    payloads.push(parseRtp(packet).payload);
    packet.writeUInt32BE(7, 8);
    socket.send(own.protect(packet, 0), from.port, from.address);
  });
  return payloads;
}

/** Share of a tone in the loud half second that ends the audio. */
async function purityOf(payloads: readonly Uint8Array[], hz: number): Promise<number> {
  const decoder = new OpusDecoder({ channels: 1 });
  await decoder.ready;
  const samples = payloads.flatMap((payload) => [
    ...(decoder.decodeFrame(payload).channelData[0] ?? []),
  ]);
  decoder.free();
  const last = Int16Array.from(samples.slice(-24_000), (value) => value * 32_767);
  return purity(last, hz, 48_000);
}

/** Whether the last half second at 16 kHz is the tone. Jitter of a busy machine breaks the phase of other parts. */
const isTone = (heard: readonly number[]): boolean =>
  heard.length > 16_000 && purity(Int16Array.from(heard.slice(-8000)), 1000, 16_000) > 0.9;

describe.each(LANGUAGES)('WhatsApp (%s)', (language) => {
  const BUSINESS = language === 'ts' ? '14155550198' : '14155550199';

  it('calls in both directions over TLS with digest, Opus and SRTP', async () => {
    const { service, customer } = scene;
    const { authId, authToken } = service.demo;
    const master = randomBytes(30);
    const media = await mediaSocket();
    let theirs: SrtpContext | undefined;
    const payloads = loopback(media, master, () => theirs);
    const vendor = await SipVendor.listen({
      username: BUSINESS,
      password: 'meta-secret',
      identity,
      answer: (offer) => {
        expect(offer).toContain('RTP/SAVP');
        expect(offer).toMatch(/opus\/48000\/2/i);
        theirs = contextOf(offer);
        const [, type = ''] = /a=rtpmap:(\d+) opus/i.exec(offer) ?? [];
        return secureSdp(media.address().port, master, Number(type));
      },
    });
    vendors.push(vendor);

    // The bot plays a tone and listens to what comes back.
    const heard: number[] = [];
    const bot = customer.bot(`/whatsapp-${language}`, (socket) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Json;
        if (message['event'] === 'start') {
          const payload = pcm24k(1000, 20_000).toString('base64');
          const play = { contentType: 'audio/x-l16', sampleRate: 24_000, payload };
          socket.send(JSON.stringify({ event: 'playAudio', media: play }));
        } else if (message['event'] === 'media') {
          const { payload } = message['media'] as { readonly payload: string };
          const bytes = Buffer.from(payload, 'base64');
          for (let at = 0; at < bytes.length; at += 2) heard.push(bytes.readInt16LE(at));
        }
      });
    });
    const answerUrl = customer.xml(
      `/whatsapp-answer-${language}`,
      `<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-l16;rate=16000">${bot}</Stream></Response>`,
    );
    await service.admin('DELETE', '/carriers/whatsapp');
    const setup = new Program(
      `examples/whatsapp/setup.${language}`,
      [],
      {
        CARILLON_URL: service.baseUrl,
        ADMIN_TOKEN: service.adminToken,
        AUTH_ID: authId,
        AUTH_TOKEN: authToken,
        NUMBER: BUSINESS,
        PASSWORD: 'meta-secret',
        SOURCES: '127.0.0.1/32',
        ANSWER_URL: answerUrl,
        WHATSAPP_HOST: '127.0.0.1',
        WHATSAPP_PORT: String(vendor.port),
        PYTHONDONTWRITEBYTECODE: '1',
      },
      language === 'py' ? { node: 'python3' } : {},
    );
    expect([await setup.exited, setup.stderr]).toEqual([0, '']);

    // The business calls a user.
    await service.api('POST', 'Call/', { from: BUSINESS, to: USER, answer_url: answerUrl });
    const invite = await eventually('the INVITE', () => vendor.invites[0]);
    expect(invite).toMatch(/^INVITE sip:\+14155550123@127\.0\.0\.1:\d+;transport=tls SIP/);
    expect(headerOf(invite, 'from')).toMatch(new RegExp(`sip:\\+?${BUSINESS}@127\\.0\\.0\\.1`));
    await eventually('the audio of the bot', () => payloads.length > 100 || undefined);
    expect(await purityOf(payloads, 1000)).toBeGreaterThan(0.9);
    await eventually('half a second of the returned tone', () => isTone(heard) || undefined);
    const calls = (await service.admin('GET', '/calls')).body['calls'] as readonly Json[];
    for (const { call_uuid: uuid } of calls) await service.api('DELETE', `Call/${uuid}/`);
    await eventually('the BYE', () => vendor.methods.includes('BYE') || undefined);

    // A user calls the business.
    payloads.length = 0;
    heard.length = 0;
    theirs = undefined;
    const call = await vendor.call(tlsPort, `sip:+${BUSINESS}@127.0.0.1;transport=tls`, {
      from: `sip:+${USER}@wa.meta.vc`,
      sdp: secureSdp(media.address().port, master, 111),
      fields: ['x-wa-meta-wacid: wacid.1'],
    });
    const ok = await eventually('the 200', () =>
      vendor.responses.find(
        (text) => text.startsWith('SIP/2.0 200') && /CSeq: 1 INVITE/i.test(text),
      ),
    );
    theirs = contextOf(ok);
    call.ack(ok);
    await eventually('the audio of the bot', () => payloads.length > 100 || undefined);
    expect(await purityOf(payloads, 1000)).toBeGreaterThan(0.9);
    await eventually('half a second of the returned tone', () => isTone(heard) || undefined);
    call.bye(ok);
    await eventually('the end', async () => {
      const { body } = await service.admin('GET', '/calls');
      return (body['calls'] as readonly Json[]).length === 0 || undefined;
    });
    const { body } = await service.api('GET', 'cdr?per_page=1');
    expect((body['data'] as readonly Json[])[0]).toMatchObject({
      caller_id_number: USER,
      codec: 'OPUS',
    });
    await service.admin('DELETE', '/carriers/whatsapp');
  });
});
