/** SIP.js registers, calls and receives calls over WebSocket, with and without TLS, on the SIP ports and the HTTP port. */
import { SessionState } from 'sip.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { makeUser, startCall } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { hasReached, WebPhone } from './web-phone.ts';

describe('SIP.js', () => {
  let place: ServicePlace;
  let service: Service;
  let urls: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const [ws, wss] = [await freePort(), await freePort()];
    place = await newPlace({
      CARILLON_SIP_WS_PORT: String(ws),
      CARILLON_SIP_WSS_PORT: String(wss),
    });
    service = await Service.start(place);
    urls = {
      ws: `ws://127.0.0.1:${ws}`,
      wss: `wss://127.0.0.1:${wss}`,
      http: `${service.baseUrl.replace('http', 'ws')}/sip`,
    };
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
  });

  it.each(['ws', 'wss', 'http'])('over %s registers, calls and hangs up', async (way) => {
    const phone = await WebPhone.start(urls[way] ?? '', service.demo);
    await phone.register();
    const { body } = await service.admin('GET', '/registrations');
    const transports = (body['registrations'] as Json[]).map(({ transport }) => transport);
    expect(transports).toContain(way === 'wss' ? 'wss' : 'ws');
    const session = await phone.call('1000');
    await session.bye();
    await hasReached(session, SessionState.Terminated);
    await phone.stop();
    await eventually('the end of the registration', async () => {
      const now = (await service.admin('GET', '/registrations')).body['registrations'] as Json[];
      return now.length === 0 || undefined;
    });
  });

  it.each(['ws', 'wss'])('over %s receives a call from a phone and ends it', async (way) => {
    const customer = await Customer.listen();
    const empty = customer.xml('/bob', '<Response/>');
    const bob = await makeUser(service, `bob${way}`, { answer_url: empty });
    const phone = await WebPhone.start(urls[way] ?? '', bob);
    await phone.register();
    const document = `<Response><Dial action="http://${customer.authority}/end"><User>sip:${bob.username}@127.0.0.1</User></Dial></Response>`;
    customer.xml('/end', '<Response/>');
    const answer_url = customer.xml('/dial', document);
    const caller = await makeUser(service, `caller${way}`, { answer_url });
    const call = await startCall(service, caller);
    await call.answered;
    const [session] = phone.incoming;
    if (session === undefined) throw new Error('no call arrived');
    await hasReached(session, SessionState.Established);
    await session.bye();
    await call.report;
    await phone.stop();
    await customer.close();
    const all = (await service.api('GET', 'cdr?per_page=2')).body['data'] as Json[];
    expect(all.map(({ context }) => context).toSorted()).toEqual(['dial', 'sip-endpoint']);
  });
});
