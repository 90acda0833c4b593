/** SIP destinations that customers may call: the service sends no packet to a refused address and records the reason. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { SipLine } from '../../src/phone/sip-line.ts';
import { buildOffer, staticCodec } from '../../src/protocol/sdp/sdp.ts';
import { Customer } from './customer.ts';
import { makeUser } from './phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

const FROM = '14155550100';
let place: ServicePlace;
let service: Service;
let customer: Customer;

beforeAll(async () => {
  place = await newPlace();
  [service, customer] = await Promise.all([Service.start(place), Customer.listen()]);
  const account = `/accounts/${service.demo.authId}`;
  await service.admin('POST', `${account}/caller-ids`, { number: `+${FROM}` });
  await service.admin('PATCH', account, { barred_prefixes: ['882'], cps_limit: 50 });
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

const placed = async (to: string) => {
  const answer = `http://${customer.authority}/answer`;
  return service.api('POST', 'Call/', { from: FROM, to, answer_url: answer });
};

/** Places a call that ends immediately, and returns its record. */
async function recordOf(to: string): Promise<Json> {
  const { body } = await placed(to);
  return eventually(`the record of ${to}`, async () => {
    const { status, body: reply } = await service.api('GET', `cdr/${body['request_uuid']}`);
    const record = (reply['data'] ?? reply) as Json;
    return status === 200 && record['hangup_cause_code'] != null ? record : undefined;
  });
}

it('refuses private and link-local addresses and the service itself, with the correct cause', async () => {
  const http = new URL(service.baseUrl).port;
  for (const [to, why] of [
    ['sip:a@169.254.169.254', 'link-local'],
    ['sip:a@10.1.2.3:5060;transport=tcp', 'private'],
    [`sip:a@127.0.0.2:${http};transport=tcp`, 'this service'],
    [`sip:a@127.0.0.1:${http}`, 'this service'],
  ] as const) {
    const record = await recordOf(to);
    expect(record).toMatchObject({ hangup_cause_code: 3040, hangup_source: 'Carillon' });
    expect(record['failure_reason']).toContain(why);
  }
});

it('allows other programs on loopback while the service is bound to loopback', async () => {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  await placed(`sip:a@127.0.0.1:${socket.address().port}`);
  const [bytes] = await once(socket, 'message');
  expect(String(bytes)).toContain(`INVITE sip:a@127.0.0.1:${socket.address().port}`);
  socket.close();
});

it('allows a carrier only through numbers, to which destination rules still apply', async () => {
  const connections: unknown[] = [];
  const gateway = createServer((socket) => {
    connections.push(socket);
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const { port } = gateway.address() as { readonly port: number };
  const carrier = { name: 'north', host: '127.0.0.1', port, prefixes: [''] };
  await service.admin('POST', '/carriers', carrier);
  const host = `127.0.0.1:${port};transport=tcp`;
  expect(await recordOf(`sip:88216212345678@${host}`)).toMatchObject({ hangup_cause_code: 2050 });
  expect(await recordOf(`sip:%388216212345678@${host}`)).toMatchObject({ hangup_cause_code: 2050 });
  expect(await recordOf(`sip:gw@${host}`)).toMatchObject({ hangup_cause_code: 3040 });
  expect(await recordOf(`sip:88216212345678@127.0.0.1:${service.sipPort}`)).toMatchObject({
    hangup_cause_code: 2050,
  });
  expect(connections).toEqual([]);
  gateway.close();
});

it("answers a local phone whose RTP port is outside the service's range, and refuses a port inside it", async () => {
  const document = '<Response><DTMF>1</DTMF><Wait length="20"/></Response>';
  const user = await makeUser(service, 'below', { answer_url: customer.xml('/below', document) });
  const lines: SipLine[] = [];
  /** Places a call with this RTP port. Returns the service's RTP port, or undefined if the call is refused. */
  const callFrom = async (rtpPort: number): Promise<number | undefined> => {
    const at = { host: '127.0.0.1', port: service.sipPort, transport: 'udp' as const };
    const line = await SipLine.open({ ...user, ...at, clock, random });
    lines.push(line);
    const sdp = await new Promise<string | undefined>((resolve) => {
      const offer = buildOffer({
        address: line.localAddress,
        port: rtpPort,
        sessionId: 1,
        version: 1,
        ptimeMs: 20,
        codecs: [staticCodec('PCMU')].flatMap((codec) => codec ?? []),
        direction: 'sendrecv',
        telephoneEventPayloadType: 101,
      });
      line.call('1000', offer, {
        ringing: () => undefined,
        connected: resolve,
        ended: () => resolve(undefined),
        offered: () => undefined,
      });
    });
    const port = /^m=audio (\d+)/m.exec(sdp ?? '')?.[1];
    return port === undefined ? undefined : Number(port);
  };
  // Port 9 belongs to no leg and no phone.
  const port = await callFrom(9);
  expect(port).toBeDefined();
  expect(await callFrom(service.rtpPortMin - 1)).toBeDefined();
  expect(await callFrom(Number(port))).toBeUndefined();
  for (const line of lines) await line.close();
});
