/** baresip registers and calls the demo; the echo it receives is compared with the audio it sent. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEcho } from '../../src/phone/audio/echo-delay.ts';
import { readWav } from '../../src/phone/audio/wav.ts';
import { Customer } from '../e2e/customer.ts';
import { callFor, makeUser } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { Baresip, dumpOf } from './baresip.ts';
import { missing, workFolder } from './tools.ts';

const TALK_MS = 6000;

describe.skipIf(missing('baresip', 'sox'))('baresip', () => {
  let place: ServicePlace;
  let tlsPort: number;
  let service: Service;
  let folder: ReturnType<typeof workFolder>;

  beforeAll(async () => {
    folder = workFolder();
    tlsPort = await freePort();
    place = await newPlace({ CARILLON_SIP_TLS_PORT: String(tlsPort) });
    service = await Service.start(place);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
    folder.remove();
  });

  describe.each([
    ['udp', 'PCMU/8000', 'none'],
    ['tcp', 'PCMA/8000', 'none'],
    // Mandatory SDES: RTP/SAVP, and RTP/AVP with keys.
    ['udp', 'PCMU/8000', 'srtp-mand'],
    ['tcp', 'PCMA/8000', 'srtp'],
    ['tls', 'PCMU/8000', 'none'],
    ['tls', 'PCMA/8000', 'srtp-mand'],
    ['udp', 'G722/16000/1', 'none'],
    ['tcp', 'opus/48000/2', 'none'],
    ['tls', 'opus/48000/2', 'srtp-mand'],
  ])('over %s with %s, encryption %s', (transport, codec, encryption) => {
    let phone: Baresip;
    let home: string;
    let server: string;
    beforeAll(async () => {
      home = join(folder.path, `${transport}-${codec.split('/')[0]}-${encryption}`);
      const { username, password } = service.demo;
      server = `127.0.0.1:${transport === 'tls' ? tlsPort : service.sipPort}`;
      // baresip trusts only the service's own certificate and verifies that it names 127.0.0.1.
      const trust = ['sip_verify_server yes', `sip_cafile ${service.dataDir}/keys/sip.crt`];
      phone = await Baresip.start(
        home,
        `<sip:${username}@${server};transport=${transport}>;auth_user=${username};auth_pass=${password};regint=60;audio_codecs=${codec};outbound="sip:${server};transport=${transport}"${encryption === 'none' ? '' : `;mediaenc=${encryption}`}`,
        { settings: transport === 'tls' ? trust : [] },
      );
    });
    afterAll(() => phone.stop());

    it('registers with MD5', async () => {
      const contact = await eventually('the registration', async () => {
        const { body } = await service.admin('GET', '/registrations');
        return (body['registrations'] as Json[]).find(
          (registration) => registration['transport'] === transport,
        );
      });
      expect(contact['username']).toBe(service.demo.username);
    });

    it('receives its own speech complete and on time', async () => {
      phone.do('dial', `sip:1000@${server}`);
      await phone.event('CALL_ESTABLISHED');
      await pause(TALK_MS);
      phone.do('hangup');
      await phone.event('CALL_CLOSED');
      const [cdr] = await eventually('the record', async () => {
        const data = (await service.api('GET', 'cdr?per_page=1')).body['data'] as Json[];
        return data[0]?.['codec'] === codec.split('/')[0]?.toUpperCase() ? data : undefined;
      });
      expect(cdr).toMatchObject({
        hangup_cause_code: 4000,
        hangup_source: 'Caller',
        total_cost: 0.005,
      });
      // The loss includes late packets: baresip shares the machine with other processes.
      expect(Number(cdr?.['packet_loss'])).toBeLessThan(1);

      const echo = findEcho(dumpOf(home, 'enc'), dumpOf(home, 'dec'), 2000);
      expect(echo?.likeness ?? 0).toBeGreaterThan(0.85);
      expect(echo?.foundPart).toBe(1);
      expect(Math.abs(echo?.delayMs ?? 9999)).toBeLessThan(400);
    });
  });

  it('answers a call that a phone places through Dial User, and its audio arrives', async () => {
    const customer = await Customer.listen();
    const bob = await makeUser(service, 'bob', { answer_url: customer.xml('/bob', '<Response/>') });
    const server = `127.0.0.1:${service.sipPort}`;
    const home = join(folder.path, 'bob');
    const phone = await Baresip.start(
      home,
      `<sip:${bob.username}@${server}>;auth_pass=${bob.password};regint=60;answermode=auto;audio_codecs=PCMU/8000`,
    );
    await eventually('the registration', async () => {
      const { body } = await service.admin('GET', '/registrations');
      return (body['registrations'] as Json[]).find(({ username }) => username === bob.username);
    });
    const caller = await makeUser(service, 'caller', {
      answer_url: customer.xml(
        '/dial',
        `<Response><Dial><User>sip:${bob.username}@127.0.0.1</User></Dial></Response>`,
      ),
    });
    const report = await callFor(service, caller, TALK_MS / 1000);
    await phone.stop();
    await customer.close();

    expect(report.setupMs).toBeDefined();
    expect(report.reception.lost).toBe(0);
    const said = readWav(readFileSync(join(home, 'in.wav')));
    if (!said.ok) throw new Error(said.error);
    const seconds = (samples: Int16Array, from: number, to: number) =>
      samples.slice(from * 8000, to * 8000);
    // baresip's audio begins before the caller's. Leading silence keeps the measured delay positive.
    const before = new Int16Array(4000);
    const received = Int16Array.from([...before, ...report.received]);
    const echo = findEcho(seconds(said.value.samples, 0, 5), received, 2000);
    expect(echo?.likeness ?? 0).toBeGreaterThan(0.85);
    const all = (await service.api('GET', 'cdr?per_page=2')).body['data'] as Json[];
    expect(all.map(({ context }) => context).toSorted()).toEqual(['dial', 'sip-endpoint']);
    expect(all.every(({ hangup_cause_code: code }) => code === 4000)).toBe(true);
  });
});
