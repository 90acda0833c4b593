/** Live listening and stream inspection of a call through another node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Handset } from '../e2e/handset.ts';
import { eventually } from '../e2e/service.ts';
import { tone, toneMs } from '../e2e/tones.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Fleet } from './fleet.ts';

const HZ = 700;
const RATE = 16_000;
const HEADER = 44;

describe.skipIf(!HAS_REDIS || postgresMissing !== undefined)(
  'a call of another node (needs PostgreSQL and redis-server)',
  () => {
    let fleet: Fleet;
    let phone: Handset;
    let uuid: string;

    beforeAll(async () => {
      fleet = await Fleet.start(2);
      const node = fleet.node(0);
      phone = await Handset.call(node, node.demo, { voice: tone([HZ], 60_000) });
      await phone.answered;
      uuid = await eventually('the call', async () => {
        const { body } = await fleet.node(1).api('GET', 'Call/?status=live', undefined, node.demo);
        return (body['calls'] as string[] | undefined)?.[0];
      });
    });
    afterAll(() => fleet?.stop());

    const ask = (what: string, method: string, call = uuid): Promise<Response> => {
      const { authId, authToken } = fleet.node(0).demo;
      return fetch(`${fleet.node(1).baseUrl}/api/v1/Account/${authId}/Call/${call}/${what}`, {
        method,
        headers: { 'x-auth-id': authId, 'x-auth-token': authToken },
      });
    };

    it('provides audio and bot messages until the call ends', async () => {
      const [received, seen] = [await ask('listen', 'POST'), await ask('stream-events', 'GET')];
      expect([received.status, seen.status]).toEqual([200, 200]);
      let wav = Buffer.alloc(0);
      const audio = received.body?.getReader();
      while (wav.length < HEADER + 2 * RATE * 4) {
        const { value, done } = (await audio?.read()) ?? { done: true };
        if (done) break;
        wav = Buffer.concat([wav, value]);
      }
      const said = Int16Array.from({ length: RATE / 2 }, (_, i) =>
        wav.readInt16LE(HEADER + 4 * (2 * i + RATE)),
      );
      expect(toneMs(said, HZ)).toBeGreaterThan(300);
      let reported = '';
      const events = seen.body?.getReader();
      while (!reported.includes('event: levels')) {
        const { value, done } = (await events?.read()) ?? { done: true };
        if (done) break;
        reported += Buffer.from(value).toString();
      }
      expect(reported).toMatch(/"said_dbfs":-?\d/);
      await phone.hangUp();
      while ((await audio?.read())?.done === false);
      while ((await events?.read())?.done === false);
      expect((await ask('listen', 'POST')).status).toBe(404);
    });
  },
);
