/**
 * Failures in a service of three nodes. After each test every answered call has one record, balances are right, all slots
 * are released, and callbacks were delivered once and in order.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AccountKey, eventually, type Json, type Service } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Callers } from './callers.ts';
import { Fleet } from './fleet.ts';

/** Time limit in ms for closing and billing the calls of a dead node. */
const TAKEN_OVER_MS = 10_000;

describe.skipIf(!HAS_REDIS || postgresMissing !== undefined)(
  'three nodes (needs PostgreSQL and redis-server)',
  () => {
    let fleet: Fleet;
    let callers: Callers;
    let root: AccountKey;
    beforeAll(async () => {
      fleet = await Fleet.start(3);
      callers = await Callers.of(fleet);
      root = callers.root;
    });
    afterAll(async () => {
      await fleet?.stop();
      await callers?.close();
    });

    const records = (by: Service) => callers.records(by);
    const live = (by: Service) => callers.live(by);
    const answeredOn = (at: number) => callers.answeredOn(at);
    const allIsOver = (by: Service, calls: readonly string[], limitMs?: number) =>
      callers.allIsOver(by, calls, limitMs);

    afterEach(() => callers.revive());

    it('REST on any node shows and hangs up a call of another node; an unknown call gets 404', async () => {
      const { call, uuid } = await answeredOn(0);
      for (const at of [1, 2]) expect(await live(fleet.node(at))).toEqual([uuid]);
      const seen = await fleet.node(1).admin('GET', `/calls/${uuid}`);
      expect(seen.body).toMatchObject({ live: true });
      const took: number[] = [];
      for (let round = 0; round < 20; round += 1) {
        const beganMs = performance.now();
        const one = await fleet.node(2).api('GET', `Call/${uuid}/?status=live`, undefined, root);
        took.push(performance.now() - beganMs);
        expect(one.status).toBe(200);
      }
      process.stdout.write(
        `REST for a call of another node: ${took.sort((a, b) => a - b)[10]?.toFixed(1)} ms (median)\n`,
      );
      expect((await fleet.node(2).api('DELETE', `Call/${uuid}/`, undefined, root)).status).toBe(
        204,
      );
      await call.report;
      const nobody = '11111111-1111-4111-8111-111111111111';
      expect((await fleet.node(1).api('DELETE', `Call/${nobody}/`, undefined, root)).status).toBe(
        404,
      );
      await allIsOver(fleet.node(1), [uuid]);
    });

    it('changes on one node apply on all nodes: carriers and revoked rights', async () => {
      const carrier = { name: 'north', host: '198.51.100.9' };
      expect((await fleet.node(1).admin('POST', '/carriers', carrier)).status).toBe(201);
      await eventually('the carrier on another node', async () => {
        const { body } = await fleet.node(2).admin('GET', '/carriers');
        return (body['carriers'] as Json[]).some(({ name }) => name === 'north') || undefined;
      });
      const { call, uuid } = await answeredOn(0);
      expect((await fleet.node(2).api('GET', 'Application/', undefined, root)).status).toBe(200);
      const suspend = { status: 'suspended' };
      expect((await fleet.node(1).admin('PATCH', `/accounts/${root.authId}`, suspend)).status).toBe(
        200,
      );
      await call.report;
      await eventually('the refusal', async () => {
        const { status } = await fleet.node(2).api('GET', 'Application/', undefined, root);
        return status >= 400 || undefined;
      });
      const again = { status: 'active' };
      expect((await fleet.node(2).admin('PATCH', `/accounts/${root.authId}`, again)).status).toBe(
        200,
      );
      await eventually('the account on all nodes', async () => {
        const all = [0, 1, 2].map((at) =>
          fleet.node(at).api('GET', 'Application/', undefined, root),
        );
        return (await Promise.all(all)).every(({ status }) => status === 200) || undefined;
      });
      await allIsOver(fleet.node(0), [uuid]);
    });

    it('after a node is killed, another node bills its calls once within ten seconds', async () => {
      const [lost, retained] = [await answeredOn(1), await answeredOn(0)];
      await fleet.node(1).kill();
      const killedMs = performance.now();
      await eventually(
        'the record',
        async () =>
          (await records(fleet.node(0))).some(({ uuid }) => uuid === lost.uuid) || undefined,
      );
      const tookMs = performance.now() - killedMs;
      process.stdout.write(`billed by another node after ${Math.round(tookMs)} ms\n`);
      expect(tookMs).toBeLessThan(TAKEN_OVER_MS);
      // Until a node detects the failure of another, its list requests fail. They never return a partial list.
      const seen = await eventually('the other call', () => live(fleet.node(2)));
      expect(seen).toEqual([retained.uuid]);
      lost.call.hangUp();
      retained.call.hangUp();
      await Promise.all([lost.call.report, retained.call.report]);
      await allIsOver(fleet.node(2), [lost.uuid, retained.uuid]);
    });

    it('a node that was declared dead while stopped ends its calls and serves again', async () => {
      const { call, uuid } = await answeredOn(2);
      const { child } = fleet.node(2).program;
      process.kill(child.pid ?? 0, 'SIGSTOP');
      await eventually(
        'the record',
        async () => (await records(fleet.node(0))).some((one) => one['uuid'] === uuid) || undefined,
      );
      process.kill(child.pid ?? 0, 'SIGCONT');
      await call.report;
      await allIsOver(fleet.node(0), [uuid]);
      await eventually(
        "the node's restart with a new epoch",
        async () => (await fleet.node(2).get('/readyz')).status === 200 || undefined,
      );
      const again = await answeredOn(2);
      again.call.hangUp();
      await again.call.report;
      await allIsOver(fleet.node(2), [again.uuid]);
    });

    it('Redis restarts empty: calls continue, capacity fails with 502, and then everything recovers', async () => {
      const { call, uuid } = await answeredOn(0);
      await fleet.redis.kill();
      const url = `/api/v1/account/${root.authId}/capacity`;
      const capacity = async (): Promise<number> =>
        (
          await fetch(`${fleet.node(0).baseUrl}${url}`, {
            headers: { 'x-auth-id': root.authId, 'x-auth-token': root.authToken },
          })
        ).status;
      expect(await capacity()).toBe(502);
      await expect(callers.call(0, 2).then((one) => one.answered)).rejects.toThrow();
      await fleet.redis.start();
      await eventually('capacity', async () => (await capacity()) === 200 || undefined);
      await eventually(
        'the call on another node',
        async () => (await live(fleet.node(1)))?.includes(uuid) || undefined,
      );
      const refused = (await records(fleet.node(0))).filter(
        (one) => one['hangup_cause_code'] === 5030,
      );
      call.hangUp();
      await call.report;
      callers.alsoReported(refused.length);
      await allIsOver(fleet.node(1), [uuid]);
    });

    it('PostgreSQL restarts: a call continues, and its record is written once', async () => {
      const { call, uuid } = await callers.acceptedOn(0);
      fleet.postgres.stop();
      call.hangUp();
      await call.report;
      fleet.postgres.start();
      await allIsOver(fleet.node(0), [uuid], 40_000);
      for (const at of [0, 1, 2]) expect(fleet.node(at).program.child.exitCode).toBeNull();
    });
  },
);
