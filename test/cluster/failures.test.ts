/**
 * Failures of network, disk and nodes, and an upgrade, with three nodes whose clocks differ by up to two seconds.
 * After each test balances, records, slots and callbacks are right.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Json, type Service } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Callers } from './callers.ts';
import { Fleet, HAS_NETWORK } from './fleet.ts';
import { SlowDisk } from './slow-disk.ts';
import { Traffic } from './traffic.ts';

/** Clock offset of each node, ms. */
const WRONG_MS = [2000, -2000, 0];
const WRONG_CLOCK = new URL('./wrong-clock.mjs', import.meta.url).href;
/** Time limit for a node to time out its dead connections, reconnect and start a new epoch, ms. */
const NOTICED_MS = 60_000;

const wrongClock = (at: number) => ({
  NODE_OPTIONS: `--import=${WRONG_CLOCK}`,
  WRONG_CLOCK_MS: String(WRONG_MS[at] ?? 0),
});

describe.skipIf(!HAS_NETWORK || !HAS_REDIS || postgresMissing !== undefined)(
  'three nodes whose clocks differ (needs PostgreSQL, Redis, and a network namespace: npm run cluster -- test)',
  () => {
    let fleet: Fleet;
    let callers: Callers;
    let disk: SlowDisk;
    beforeAll(async () => {
      disk = new SlowDisk();
      fleet = await Fleet.start(3, { apart: true, each: wrongClock, postgres: disk.postgres });
      callers = await Callers.of(fleet);
    });
    afterEach(async () => {
      disk.isSlow = false;
      await callers.revive();
      await callers.allReady();
    });
    afterAll(async () => {
      await fleet?.stop();
      await callers?.close();
      disk?.remove();
    });

    const recorded = (by: Service, uuid: string) =>
      eventually(
        'the record',
        async () => (await callers.records(by)).find((one) => one['uuid'] === uuid),
        30_000,
      );

    it("another node bills a killed node's call by the clock of the killed node", async () => {
      const { call, uuid } = await callers.answeredOn(0);
      await fleet.node(0).kill();
      const record: Json = await recorded(fleet.node(1), uuid);
      expect(Number(record['duration'])).toBeLessThan(10);
      expect(Date.parse(String(record['end_time']))).toBeGreaterThanOrEqual(
        Date.parse(String(record['answer_time'])),
      );
      call.hangUp();
      await call.report;
      await callers.allIsOver(fleet.node(1), [uuid]);
    });

    it('another node bills the calls of a node without PostgreSQL and Redis; after recovery it ends them, reported once', async () => {
      const [lost, retained] = [await callers.answeredOn(2), await callers.answeredOn(1)];
      const join = fleet.cutOff(2);
      try {
        await recorded(fleet.node(1), lost.uuid);
        expect(await eventually('the other call', () => callers.live(fleet.node(0)))).toEqual([
          retained.uuid,
        ]);
      } finally {
        join();
      }
      await lost.call.report;
      await eventually(
        "the node's new epoch",
        async () => (await fleet.node(2).get('/readyz')).status === 200 || undefined,
        NOTICED_MS,
      );
      retained.call.hangUp();
      await retained.call.report;
      const again = await callers.answeredOn(2);
      again.call.hangUp();
      await again.call.report;
      await callers.allIsOver(fleet.node(0), [lost.uuid, retained.uuid, again.uuid]);
    });

    it('a slow PostgreSQL disk delays calls but loses none', async () => {
      disk.isSlow = true;
      const calls = await Promise.all([0, 1, 2].map((at) => callers.call(at)));
      await Promise.all(calls.map(({ answered }) => answered));
      const uuids = await eventually('three calls', async () => {
        const live = await callers.live(fleet.node(0));
        return live?.length === 3 ? live : undefined;
      });
      for (const call of calls) call.hangUp();
      await Promise.all(calls.map(({ report }) => report));
      disk.isSlow = false;
      await callers.allIsOver(fleet.node(1), uuids);
    });

    it('during a drain a running call continues, and other nodes accept new calls', async () => {
      const { call, uuid } = await callers.answeredOn(0);
      expect((await fleet.node(0).admin('POST', '/drain')).status).toBe(202);
      await expect(callers.call(0, 2).then((one) => one.answered)).rejects.toThrow();
      const other = await callers.answeredOn(1);
      other.call.hangUp();
      await other.call.report;
      expect(await callers.live(fleet.node(1))).toEqual([uuid]);
      call.hangUp();
      await call.report;
      expect(await fleet.node(0).stop()).toBe(0);
      const record = await recorded(fleet.node(1), uuid);
      expect(record['hangup_cause_code']).toBe(4000);
      await callers.allIsOver(fleet.node(1), [uuid, other.uuid]);
    });

    it('a rolling upgrade of three nodes under load loses no call and no request', async () => {
      const traffic = Traffic.start(fleet, callers);
      for (const at of [0, 1, 2]) {
        await traffic.some();
        expect(await fleet.drainAndRestart(at)).toBe(0);
      }
      await traffic.some();
      const { calls, lost, failed } = await traffic.stop();
      process.stdout.write(`${calls} calls while three nodes were upgraded\n`);
      expect(lost).toEqual([]);
      expect(failed).toEqual([]);
      callers.alsoReported(calls);
      await callers.allIsOver(fleet.node(0), []);
      const normal = (await callers.records(fleet.node(1))).slice(0, Math.min(calls, 100));
      expect(new Set(normal.map((one) => one['hangup_cause_code']))).toEqual(new Set([4000]));
    });
  },
);
