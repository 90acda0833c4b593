/** REST requests on one node for a call of another, compared with the same request at the node of the call. */
import { Pool } from 'undici';
import { startCall } from '../../test/e2e/phone.ts';
import { eventually, type Service } from '../../test/e2e/service.ts';
import { isQuick, most, type Row } from '../row.ts';
import { percentile } from './figures.ts';

const REQUESTS = isQuick ? 200 : 1000;
const GOAL_MS = 5;

interface Asked {
  readonly by: Service;
  readonly owner: Service;
}

export async function restElsewhere({ by, owner }: Asked): Promise<readonly Row[]> {
  const call = await startCall(owner, owner.demo, { seconds: 120 });
  await call.answered;
  const root = owner.demo;
  const uuid = await eventually('the call', async () => {
    const { body } = await by.api('GET', 'Call/?status=live', undefined, root);
    return (body['calls'] as string[] | undefined)?.[0];
  });
  const headers = { 'x-auth-id': root.authId, 'x-auth-token': root.authToken };
  const one = `/api/v1/Account/${root.authId}/Call/${uuid}`;
  const rows: Row[] = [];
  for (const [what, method, path] of [
    ['a look at a call', 'GET', `${one}/?status=live`],
    ['a play stopped', 'DELETE', `${one}/Play/`],
  ] as const) {
    const timesAt = async (service: Service): Promise<readonly number[]> => {
      const pool = new Pool(service.baseUrl, { connections: 1 });
      const times: number[] = [];
      for (let at = 0; at < REQUESTS; at += 1) {
        const beganMs = performance.now();
        const reply = await pool.request({ method, path, headers });
        await reply.body.dump();
        times.push(performance.now() - beganMs);
        if (reply.statusCode >= 300) throw new Error(`${path}: ${reply.statusCode}`);
      }
      await pool.close();
      return times;
    };
    const [here, elsewhere] = [await timesAt(owner), await timesAt(by)];
    const value = percentile(elsewhere, 50);
    const floor = percentile(here, 50);
    rows.push({
      name: `REST on any node for a call elsewhere: ${what}, p50`,
      value,
      unit: 'ms',
      floor,
      ratio: Math.round((value / floor) * 100) / 100,
      goal: most(GOAL_MS),
      note: `p99 ${percentile(elsewhere, 99)}; floor: at the call's own node`,
    });
  }
  call.hangUp();
  await call.report;
  return rows;
}
