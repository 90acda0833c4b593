/** A node joins and leaves the edge by JSON-RPC while calls arrive. No call is lost, whichever side hangs up. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Edge, missingModules } from '../deploy/kamailio.ts';
import { type RunningCall, startCall } from '../e2e/phone.ts';
import { eventually, freePort, type Service } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Callers } from './callers.ts';
import { Fleet } from './fleet.ts';

const HAS_KAMAILIO = missingModules()?.length === 0;
const EDGE = '127.0.0.1';
const GROUP = 1;

describe.skipIf(!HAS_KAMAILIO || !HAS_REDIS || postgresMissing !== undefined)(
  'a node that joins the edge (needs kamailio, PostgreSQL and redis-server)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-edge-'));
    let fleet: Fleet;
    let edge: Edge;
    let callers: Callers;
    /** The service as phones see it: the edge's address. */
    let viaEdge: Service;

    beforeAll(async () => {
      fleet = await Fleet.start(2);
      callers = await Callers.of(fleet);
      const port = await freePort();
      edge = await Edge.start(folder, [`127.0.0.1:${fleet.node(0).sipPort}`], {
        PUBLIC_ADDRESS: EDGE,
        PUBLIC_PORT: port,
        WS_PORT: await freePort(),
        PRIVATE_ADDRESS: EDGE,
        PRIVATE_PORT: await freePort(),
        PRIVATE_HTTP_PORT: await freePort(),
      });
      viaEdge = { sipPort: port } as Service;
      await flagOf(0, 'A');
    });
    afterAll(async () => {
      await edge?.stop();
      await callers?.close();
      await fleet?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const uriOf = (at: number): string => `sip:127.0.0.1:${fleet.node(at).sipPort};transport=udp`;

    /** Waits for the dispatcher flag of a node: A is active, D is disabled, undefined is absent. */
    const flagOf = (at: number, flag: string | undefined): Promise<true> =>
      eventually(`flag ${flag} of node ${at}: ${edge.said}`, async () => {
        const flags = await edge.nodes(EDGE);
        return flags[String(fleet.node(at).sipPort)]?.[0] === flag || undefined;
      });

    /** Changes the dispatcher list. Kamailio refuses a change within 1 s of another, so refused changes are retried. */
    const change = (command: string, ...params: readonly (string | number)[]): Promise<true> =>
      eventually(`${command} in the list`, async () => {
        try {
          await edge.notify(EDGE, `dispatcher.${command}`, params);
          return true;
        } catch (error) {
          if (String(error).includes('Ongoing reload')) return undefined;
          throw error;
        }
      });

    /** Number of active calls on this node. */
    const callsOn = async (at: number): Promise<number> => {
      const { text } = await fleet.node(at).get('/metrics');
      return Number(/^voice_calls_active\{direction="inbound"\} (\d+)/m.exec(text)?.[1]);
    };

    async function answered(count: number): Promise<readonly RunningCall[]> {
      const calls: RunningCall[] = [];
      for (let i = 0; i < count; i += 1) {
        const call = await startCall(viaEdge, callers.user, { seconds: 60 });
        await call.answered;
        calls.push(call);
      }
      return calls;
    }

    it('gets calls after it has joined, none after it was disabled, and its own calls end normally', async () => {
      const alone = await answered(2);
      expect([await callsOn(0), await callsOn(1)]).toEqual([2, 0]);

      await change('add', GROUP, uriOf(1), 0, 0, 'duid=joined');
      await flagOf(1, 'A');
      const together = await answered(6);
      const joined = await callsOn(1);
      expect(joined).toBeGreaterThan(0);

      await change('set_state', 'd', GROUP, uriOf(1));
      await flagOf(1, 'D');
      const after = await answered(3);
      expect([await callsOn(0), await callsOn(1)]).toEqual([11 - joined, joined]);

      // The phone ends half of the calls. The nodes, including the disabled one, end the others.
      const uuids = await eventually('all calls', async () => {
        const live = await callers.live(fleet.node(0));
        return live?.length === 11 ? live : undefined;
      });
      const calls = [...alone, ...together, ...after];
      for (const call of calls.filter((_, i) => i % 2 === 0)) call.hangUp();
      const left = await eventually('the calls that the nodes end', async () => {
        const live = await callers.live(fleet.node(0));
        return live?.length === 5 ? live : undefined;
      });
      for (const uuid of left)
        await fleet.node(0).api('DELETE', `Call/${uuid}/`, undefined, callers.root);
      const ends = await Promise.all(calls.map(async ({ report }) => (await report).end));
      expect(ends.map((end) => end?.by)).toEqual(
        calls.map((_, i) => (i % 2 === 0 ? 'local' : 'remote')),
      );
      await callers.allIsOver(fleet.node(0), uuids);

      await change('remove', GROUP, uriOf(1));
      await flagOf(1, undefined);
      for (const call of await answered(1)) call.hangUp();
    });
  },
);
