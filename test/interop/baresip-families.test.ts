/** baresip with IPv4 and baresip with IPv6 in one call: hold, keys, recording and charges. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeUser } from '../e2e/phone.ts';
import { Scene } from '../e2e/scene.ts';
import { eventually, type Json } from '../e2e/service.ts';
import { toneMs } from '../e2e/tones.ts';
import { hasIpv6 } from '../has-ipv6.ts';
import { Baresip } from './baresip.ts';
import { missing, workFolder } from './tools.ts';

const FOUR = { address: '127.0.0.1', host: '127.0.0.1', family: 'IP4', other: 'IP6' };
const SIX = { address: '::1', host: '[::1]', family: 'IP6', other: 'IP4' };
const [CALLER_HZ, CALLEE_HZ] = [700, 1100];
const TALK_MS = 3000;

describe.skipIf(missing('baresip', 'sox') || !hasIpv6)('baresip over IPv4 and over IPv6', () => {
  let scene: Scene;
  const folder = workFolder();
  const phones: Baresip[] = [];

  beforeAll(async () => {
    scene = await Scene.open({
      CARILLON_SIP_HOST: '::',
      CARILLON_SIP_PUBLIC_HOST: FOUR.address,
      CARILLON_SIP_PUBLIC_HOST6: SIX.host,
      CARILLON_RTP_HOST: '::',
      CARILLON_RTP_PUBLIC_HOST: FOUR.address,
      CARILLON_RTP_PUBLIC_HOST6: SIX.address,
    });
  });
  afterEach(async () => {
    for (const phone of phones.splice(0)) await phone.stop();
  });
  afterAll(async () => {
    await scene.close();
    folder.remove();
  });

  /** Starts a registered phone that sends a tone. */
  async function phoneAt(place: typeof FOUR, name: string, hz: number, document: string) {
    const user = await makeUser(scene.service, name, { answer_url: document });
    const says = join(folder.path, `${hz}.wav`);
    spawnSync('sox', [
      '-n',
      '-r',
      '8000',
      '-b',
      '16',
      '-c',
      '1',
      says,
      'synth',
      '60',
      'sine',
      String(hz),
    ]);
    const server = `${place.host}:${scene.service.sipPort}`;
    const { username, password } = user;
    const account = `<sip:${username}@${server}>;auth_user=${username};auth_pass=${password};regint=60;answermode=auto;audio_codecs=PCMU/8000;outbound="sip:${server}"`;
    const options = { address: place.address, says, traces: true };
    const phone = await Baresip.start(join(folder.path, name), account, options);
    phones.push(phone);
    await eventually(`the registration of ${name}`, async () => {
      const { body } = await scene.service.admin('GET', '/registrations');
      return (body['registrations'] as Json[]).find((one) => one['username'] === username);
    });
    return { phone, username, server };
  }

  /** Requires that the traced messages name addresses of one family only, in SDP and in our Contact. */
  function expectOneFamily({ output }: Baresip, place: typeof FOUR): void {
    expect(output).toContain(`c=IN ${place.family} ${place.address}`);
    expect(output).not.toContain(`c=IN ${place.other} `);
    expect(output).toContain(`Contact: <sip:${place.host}:${scene.service.sipPort}>`);
  }

  it.each([
    ['IPv4', 'IPv6', FOUR, SIX],
    ['IPv6', 'IPv4', SIX, FOUR],
  ])('talk from %s to %s', async (fromName, _, from, to) => {
    const recorded = `/recorded-${fromName}`;
    const record = `<Record recordSession="true" maxLength="600" fileFormat="wav" playBeep="false" callbackUrl="${scene.url(recorded)}"/>`;
    const callee = await phoneAt(to, `callee${fromName}`, CALLEE_HZ, scene.document('/none', ''));
    const dial = `${record}<Dial><User>sip:${callee.username}@${from.host}:${scene.service.sipPort}</User></Dial>`;
    const document = scene.document(`/dial-${fromName}`, dial);
    const caller = await phoneAt(from, `caller${fromName}`, CALLER_HZ, document);
    caller.phone.do('dial', `sip:1000@${caller.server}`);
    await callee.phone.event('CALL_ESTABLISHED');
    await caller.phone.event('CALL_ESTABLISHED');
    await pause(TALK_MS);

    caller.phone.do('hold');
    await eventually('the answer to the hold', () =>
      caller.phone.output.includes('a=recvonly') ? true : undefined,
    );
    const before = caller.phone.output.length;
    caller.phone.do('resume');
    await eventually('the answer to the resume', () =>
      /SIP\/2\.0 200[\s\S]*a=sendrecv/.test(caller.phone.output.slice(before)) ? true : undefined,
    );
    caller.phone.do('sndcode', '5');
    await callee.phone.event('CALL_DTMF_START');
    callee.phone.do('sndcode', '7');
    await caller.phone.event('CALL_DTMF_START');
    caller.phone.do('hangup');
    await callee.phone.event('CALL_CLOSED');

    expectOneFamily(caller.phone, from);
    expectOneFamily(callee.phone, to);
    const { RecordFile: link } = await scene.reported(recorded, 'RecordStop');
    const { left, right } = await scene.recorded(link);
    expect(toneMs(left, CALLER_HZ)).toBeGreaterThan(TALK_MS / 2);
    expect(toneMs(right, CALLEE_HZ)).toBeGreaterThan(TALK_MS / 2);
    const records = (await scene.service.api('GET', 'cdr?per_page=2')).body['data'] as Json[];
    expect(records.map((one) => Number(one['total_cost']) > 0)).toEqual([true, true]);
  });
});
