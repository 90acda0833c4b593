/** Calls between phones with IPv4 and IPv6, and IPv6 alone, over real sockets. */
import { afterEach, describe, expect, it } from 'vitest';
import { hasIpv6 } from '../has-ipv6.ts';
import { Handset } from './handset.ts';
import { makeUser } from './phone.ts';
import { Scene } from './scene.ts';
import { eventually, type Json } from './service.ts';
import { tone, toneMs } from './tones.ts';

const [FOUR, SIX] = ['127.0.0.1', '::1'];
const [CALLER_HZ, CALLEE_HZ] = [700, 1100];
const BOTH_FAMILIES = { CARILLON_SIP_HOST: '::', CARILLON_RTP_HOST: '::' };

let scene: Scene | undefined;
const phones: Handset[] = [];
afterEach(async () => {
  for (const phone of phones.splice(0)) await phone.close();
  await scene?.close();
  scene = undefined;
});

/** Calls from a phone at one address to a phone at another. Returns both, connected. */
async function connect(from: string, to: string) {
  scene ??= await Scene.open(BOTH_FAMILIES);
  const { service } = scene;
  const callee = await makeUser(service, 'callee', { answer_url: scene.document('/callee', '') });
  const answering = await Handset.waiting(service, callee, {
    voice: tone([CALLEE_HZ], 30_000),
    host: to,
  });
  const record = `<Record recordSession="true" maxLength="600" fileFormat="wav" playBeep="false" callbackUrl="${scene.url('/recorded')}"/>`;
  const dial = `<Dial><User>sip:${callee.username}@127.0.0.1:${service.sipPort}</User></Dial>`;
  const caller = await makeUser(service, 'caller', {
    answer_url: scene.document('/caller', `${record}${dial}`),
  });
  const calling = await Handset.call(service, caller, {
    voice: tone([CALLER_HZ], 30_000),
    host: from,
  });
  phones.push(answering, calling);
  await calling.answered;
  return { calling, answering };
}

describe.skipIf(!hasIpv6)('a service with both address families', () => {
  it.each([
    [FOUR, SIX],
    [SIX, FOUR],
    [SIX, SIX],
  ])(
    'connects %s to %s, each at an address of its family; keys, recording, charges',
    async (from, to) => {
      const { calling, answering } = await connect(from, to);
      await eventually('audio both ways', () =>
        toneMs(calling.received, CALLEE_HZ) > 1000 && toneMs(answering.received, CALLER_HZ) > 1000
          ? true
          : undefined,
      );
      expect([calling.mediaAddress, answering.mediaAddress]).toEqual([from, to]);
      calling.press('5');
      answering.press('7');
      await eventually('a key each way', () =>
        answering.receivedKeys === '5' && calling.receivedKeys === '7' ? true : undefined,
      );
      await calling.hangUp();
      phones.pop();
      const { RecordFile: link } = (await scene?.reported('/recorded', 'RecordStop')) ?? {};
      const recording = await scene?.recorded(link);
      expect(toneMs(recording?.left ?? new Int16Array(0), CALLER_HZ)).toBeGreaterThan(200);
      expect(toneMs(recording?.right ?? new Int16Array(0), CALLEE_HZ)).toBeGreaterThan(200);
      const records = await eventually('the records of both legs', async () => {
        const { body } = (await scene?.service.api('GET', 'cdr?per_page=5')) ?? {};
        const rows = (body?.['data'] ?? []) as Json[];
        return rows.length === 2 ? rows : undefined;
      });
      expect(records.map(({ total_cost: cost }) => Number(cost) > 0)).toEqual([true, true]);
    },
  );
});

describe.skipIf(!hasIpv6)('a service with IPv6 only', () => {
  it('plays to a phone with IPv6', async () => {
    scene = await Scene.open({ CARILLON_SIP_HOST: '::', CARILLON_RTP_HOST: '::1' });
    const user = await makeUser(scene.service, 'six', {
      answer_url: scene.document('/six', `<Play>${scene.sounds.endless}</Play>`),
    });
    const phone = await Handset.call(scene.service, user, { host: SIX });
    phones.push(phone);
    await eventually('the sound', () => toneMs(phone.received, 1000) > 400 || undefined);
    expect(phone.mediaAddress).toBe(SIX);
  });
});
