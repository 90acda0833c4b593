/** SIPp phones of one account: one rings; another monitors it and picks up the call (RFC 4235, 3891). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import { freePort } from '../e2e/service.ts';
import { OWN_NUMBER, SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLING = '127.0.0.2';
const [RINGING, PICKING] = ['127.0.0.4', '127.0.0.5'];

describe.skipIf(missing('sipp', 'sox'))('call pickup', () => {
  let stage: SippStage;
  let ringing: SipUser;
  let picking: SipUser;

  beforeAll(async () => {
    stage = await SippStage.open(8100);
    const { service, customer } = stage;
    const answer_url = customer.xml('/own', '<Response/>');
    ringing = await makeUser(service, 'ringing', { answer_url });
    picking = await makeUser(service, 'picking', { answer_url });
    await stage.carrier({ name: 'calling', host: CALLING, prefixes: ['999'] });
    await stage.answersOwnNumber(
      `<Response><Dial callerId="${OWN_NUMBER}"><User>sip:${ringing.username}@127.0.0.1</User></Dial></Response>`,
    );
  });
  afterAll(() => stage.close());

  it.each([
    ["from the caller's point of view", '$remote', '$local'],
    ["from the ringing phone's point of view", '$local', '$remote'],
  ])(
    'names the dialog %s: the caller is connected, and the other phone stops ringing',
    async (_, to, from) => {
      const { sipPort } = stage.service;
      const phone = { localAddress: RINGING, localPort: await freePort() };
      const registered = stage.peer('register', {
        ...phone,
        target: sipPort,
        user: ringing,
        limitS: 10,
      });
      expect(await registered.done).toMatchObject({ status: 0 });
      const rings = stage.peer('carrier-rings', { ...phone, limitS: 20 });
      const picks = stage.peer('picks-up', {
        localAddress: PICKING,
        target: sipPort,
        user: picking,
        service: ringing.username,
        put: { to_tag: `[${to}]`, from_tag: `[${from}]` },
        limitS: 20,
      });
      const calls = stage.peer('from-carrier', {
        localAddress: CALLING,
        target: sipPort,
        service: `+${OWN_NUMBER}`,
        pauseMs: 1200,
        limitS: 20,
      });
      for (const run of [calls, picks, rings]) {
        const { status, report } = await run.done;
        expect(status, report).toBe(0);
      }
    },
  );
});
