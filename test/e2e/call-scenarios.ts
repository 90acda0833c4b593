/** Call tests that run against every SIP transport: built-in sockets, drachtio-server or a test server that replaces it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Carrier, type Fate } from './carrier.ts';
import { Customer, echoBot, streamXml } from './customer.ts';
import { Handset } from './handset.ts';
import { babble, callFor, makeUser, startCall } from './phone.ts';
import {
  type Environment,
  eventually,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

/** The SIP transport under test. */
export interface Backend {
  readonly settings: Environment;
  close(): Promise<void> | void;
}

const FROM = '14155550100';
const TAKES = '14155550110';
const BUSY = '14155550111';
const RINGS = '14155550112';

function fateOf(number: string): Fate {
  if (number === BUSY) return { kind: 'refused', status: '486 Busy Here' };
  return number === RINGS ? { kind: 'rings' } : { kind: 'answered', talkMs: 300 };
}

export function callStories(open: () => Promise<Backend>): void {
  let backend: Backend;
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let carrier: Carrier;

  beforeAll(async () => {
    backend = await open();
    place = await newPlace(backend.settings);
    [service, customer, carrier] = await Promise.all([
      Service.start(place),
      Customer.listen(),
      Carrier.listen(fateOf),
    ]);
    await service.admin('POST', `/accounts/${service.demo.authId}/caller-ids`, {
      number: `+${FROM}`,
    });
    const { port } = carrier;
    const north = { name: 'north', host: '127.0.0.1', port, transport: 'udp', prefixes: [''] };
    const made = await service.admin('POST', '/carriers', north);
    expect(made.status, made.text).toBe(201);
  });
  afterAll(async () => {
    await service?.kill();
    await customer?.close();
    carrier?.close();
    await backend?.close();
    removePlace(place);
  });

  /** Waits for the first notification at `path` and returns its form. */
  const reported = async (path: string): Promise<Readonly<Record<string, string>>> =>
    (await eventually(`a notification at ${path}`, () => customer.at(path)[0])).form;

  /** Places a call over REST and waits for its end. */
  async function placed(to: string, name: string, more = {}) {
    const answer = await service.api('POST', 'Call/', {
      from: FROM,
      to,
      answer_url: customer.xml(`/${name}`, '<Response><Wait length="20"/></Response>'),
      hangup_url: `http://${customer.authority}/${name}-end`,
      ...more,
    });
    expect(answer.status, answer.text).toBe(200);
    return reported(`/${name}-end`);
  }

  describe('a phone', () => {
    it('calls a bot and hears its echo', async () => {
      const answer_url = customer.xml('/echo', streamXml(customer.bot('/bot', echoBot)));
      const user = await makeUser(service, 'echo', { answer_url });
      const report = await callFor(service, user, 3, babble(2));
      expect(report.end).toMatchObject({ by: 'local', how: 'bye' });
      expect(report.echo).toBeDefined();
      expect(await service.cdrOf(report.sipCallId)).toMatchObject({ hangup_cause_code: 4000 });
    });

    it('hears early media, and the service reads its DTMF from INFO', async () => {
      const action = customer.xml('/keys', '<Response><Hangup/></Response>');
      const answer_url = customer.xml(
        '/menu',
        `<Response><PreAnswer><Wait length="1"/></PreAnswer><GetDigits action="${action}" numDigits="2"><Wait length="20"/></GetDigits></Response>`,
      );
      const user = await makeUser(service, 'menu', { answer_url });
      const phone = await Handset.call(service, user, { keyEvents: false });
      await phone.early;
      await phone.answered;
      // The document must reach the element that reads keys before the phone sends them.
      const { form } = await eventually('the keys', () => {
        phone.pressByInfo('4');
        return customer.at('/keys')[0];
      });
      expect(form['Digits']).toBe('44');
      expect(await phone.ended).toMatchObject({ by: 'remote', how: 'bye' });
      await phone.close();
    });

    it('registers and receives a call from another phone, with a CDR for both legs', async () => {
      const callee = await makeUser(service, 'callee', { answer_url: customer.xml('/none', '') });
      const taken = await Handset.waiting(service, callee);
      const over = customer.xml('/over', '<Response><Hangup/></Response>');
      const user = `<User>sip:${callee.username}@127.0.0.1</User>`;
      const answer_url = customer.xml(
        '/dial',
        `<Response><Dial action="${over}">${user}</Dial></Response>`,
      );
      const caller = await makeUser(service, 'caller', { answer_url });
      const call = await startCall(service, caller);
      await call.answered;
      await taken.answered;
      await taken.hangUp();
      const { end, sipCallId } = await call.report;
      expect(end).toMatchObject({ by: 'remote', how: 'bye' });
      expect(await service.cdrOf(sipCallId)).toMatchObject({ context: 'sip-endpoint' });
    });

    it('cancels while the called phone rings', async () => {
      const answer_url = customer.xml(
        '/ring',
        `<Response><Dial callerId="${FROM}"><Number>${RINGS}</Number></Dial></Response>`,
      );
      const hangup_url = `http://${customer.authority}/ring-end`;
      const caller = await makeUser(service, 'ring', { answer_url, hangup_url });
      const call = await startCall(service, caller);
      await call.ringing;
      const ringing = await eventually('the carrier to ring', () =>
        carrier.calls.find(({ number }) => number === RINGS),
      );
      call.hangUp();
      expect((await reported('/ring-end'))['HangupCauseName']).toBe('Canceled');
      await eventually('the CANCEL at the carrier', () => ringing.endedMs);
    });
  });

  describe('a call over REST', () => {
    it('is answered, and ends when the callee hangs up', async () => {
      expect(await placed(TAKES, 'takes')).toMatchObject({ HangupSource: 'Callee' });
    });

    it('reports a busy callee', async () => {
      expect(await placed(BUSY, 'busy')).toMatchObject({ HangupCauseCode: '3010' });
    });

    it('times out while ringing', async () => {
      const end = await placed(RINGS, 'rings', { ring_timeout: 1 });
      expect(end['HangupCauseName']).toBe('Ring Timeout Reached');
      expect(carrier.calls.at(-1)?.endedMs).toBeDefined();
    });
  });
}
