/** Signaling and media over IPv6: baresip on ::1 calls the demo and hears its echo. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEcho } from '../../src/phone/audio/echo-delay.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { Baresip, dumpOf } from './baresip.ts';
import { missing, workFolder } from './tools.ts';

const TALK_MS = 6000;

describe.skipIf(missing('baresip', 'sox'))('baresip over IPv6', () => {
  let place: ServicePlace;
  let service: Service;
  const folder = workFolder();

  beforeAll(async () => {
    place = await newPlace({
      CARILLON_SIP_HOST: '::',
      CARILLON_SIP_PUBLIC_HOST: '127.0.0.1',
      CARILLON_SIP_PUBLIC_HOST6: '::1',
      CARILLON_RTP_HOST: '::',
      CARILLON_RTP_PUBLIC_HOST: '127.0.0.1',
      CARILLON_RTP_PUBLIC_HOST6: '::1',
    });
    service = await Service.start(place);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
    folder.remove();
  });

  it.each(['PCMU/8000', 'opus/48000/2'])('hears its echo with %s', async (codec) => {
    const home = join(folder.path, `echo-${codec.split('/')[0]}`);
    const { username, password } = service.demo;
    const server = `[::1]:${service.sipPort}`;
    const account = `<sip:${username}@${server}>;auth_user=${username};auth_pass=${password};regint=60;audio_codecs=${codec};outbound="sip:${server}"`;
    const phone = await Baresip.start(home, account, { address: '::1' });
    await eventually('the registration', async () => {
      const { body } = await service.admin('GET', '/registrations');
      return (body['registrations'] as Json[]).find((one) => one['username'] === username);
    });
    phone.do('dial', `sip:1000@${server}`);
    await phone.event('CALL_ESTABLISHED');
    await pause(TALK_MS);
    phone.do('hangup');
    await phone.event('CALL_CLOSED');
    await phone.stop();
    const echo = findEcho(dumpOf(home, 'enc'), dumpOf(home, 'dec'), 2000);
    expect(echo?.likeness ?? 0).toBeGreaterThan(0.85);
    expect(echo?.foundPart).toBe(1);
  });
});
