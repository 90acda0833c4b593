/**
 * A rolling upgrade from an earlier version under load, and one node back. `EARLIER_VERSION` names the folder of a checkout of
 * the earlier version, with its modules and native build.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually, Service } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Callers } from './callers.ts';
import { Fleet } from './fleet.ts';
import { Traffic } from './traffic.ts';

const EARLIER = process.env['EARLIER_VERSION'];
const NODES = [0, 1, 2] as const;

// Each test starts up to three nodes in order, which takes a minute per node on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

describe.skipIf(EARLIER === undefined || !HAS_REDIS || postgresMissing !== undefined)(
  'two versions in a cluster (needs PostgreSQL, Redis and EARLIER_VERSION, a checkout of the earlier version)',
  () => {
    let fleet: Fleet;
    let callers: Callers;

    beforeAll(async () => {
      fleet = await Fleet.start(3, EARLIER === undefined ? {} : { root: EARLIER });
      callers = await Callers.of(fleet);
    });
    afterAll(async () => {
      await fleet?.stop();
      await callers?.close();
    });

    /** Calls the node until it takes a call. A node that has just started on a busy machine may refuse the first one. */
    async function takesCall(at: number): Promise<void> {
      await eventually(
        `a call at node ${at}`,
        async () => {
          const call = await callers.call(at, 1);
          const { setupMs } = await call.report;
          if (setupMs !== undefined) callers.alsoReported(1);
          return setupMs === undefined ? undefined : true;
        },
        30_000,
      );
    }

    it('a rolling upgrade loses no call and no request, and nodes of both versions take calls', async () => {
      const traffic = Traffic.start(fleet, callers);
      for (const at of NODES) {
        await traffic.some();
        expect(await fleet.drainAndRestart(at)).toBe(0);
        // The new node takes calls while the others are of the earlier version.
        await takesCall(at);
      }
      await traffic.some();
      const { calls, lost, failed } = await traffic.stop();
      expect({ lost, failed }).toEqual({ lost: [], failed: [] });
      callers.alsoReported(calls);
      await callers.allIsOver(fleet.node(0), []);
    });

    it('an emptied Redis grants slots again while one node is of the earlier version', async () => {
      await fleet.node(2).stop();
      const [, , node] = fleet.nodes;
      if (node === undefined) throw new Error('there is no third node');
      const refused = await Service.start(node.place, EARLIER).then(
        (service) => {
          node.service = service;
          return undefined;
        },
        (error: unknown) => String(error),
      );
      // The earlier version refuses a newer schema with a clear message, and changes nothing.
      if (refused !== undefined) {
        expect(refused).toMatch(/schema version \d+, this service supports up to \d+/);
        await fleet.restart(2);
      }
      await fleet.redis.kill();
      await fleet.redis.start();
      for (const at of NODES) await takesCall(at);
    });
  },
);
