/** Component failures during continuous calls, and a node failure during requests for its calls. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RunningCall, startCall } from '../e2e/phone.ts';
import { eventually, type Json } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Callers } from './callers.ts';
import { Fleet } from './fleet.ts';

const PHONES = 4;
const SOME = 8;
/** Time limit for a response, ms. A remote request takes at most `cluster.answerMs` (1 s), and a store query as long again. */
const ANSWERED_MS = 5_000;

/** Phones that call the nodes in turn, regardless of the outcome. */
class Phones {
  readonly #fleet: Fleet;
  readonly #callers: Callers;
  /** SIP Call-IDs of answered calls. */
  readonly answered: string[] = [];
  #refused = 0;
  #isOver = false;
  #turn = 0;
  readonly #running: Promise<unknown>;

  constructor(fleet: Fleet, callers: Callers) {
    this.#fleet = fleet;
    this.#callers = callers;
    this.#running = Promise.all(Array.from({ length: PHONES }, () => this.#again()));
  }

  async some(): Promise<void> {
    const wanted = this.answered.length + SOME;
    const isSo = () => this.answered.length >= wanted || undefined;
    await eventually('more answered calls', isSo, 60_000);
  }

  async refused(count: number): Promise<void> {
    const wanted = this.#refused + count;
    await eventually('refused calls', () => this.#refused >= wanted || undefined, 60_000);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #again(): Promise<void> {
    while (!this.#isOver) {
      const at = this.#turn % this.#fleet.nodes.length;
      this.#turn += 1;
      const call = await startCall(this.#fleet.node(at), this.#callers.user, { seconds: 1 });
      const report = await call.report.catch(() => undefined);
      if (report?.setupMs !== undefined) this.answered.push(report.sipCallId);
      else this.#refused += 1;
    }
  }
}

describe.skipIf(!HAS_REDIS || postgresMissing !== undefined)(
  'three nodes under load (needs PostgreSQL and redis-server)',
  () => {
    let fleet: Fleet;
    let callers: Callers;

    beforeAll(async () => {
      fleet = await Fleet.start(3);
      callers = await Callers.of(fleet);
      const limits = { concurrent_calls_limit: 50, cps_limit: 50 };
      await fleet.node(0).admin('PATCH', `/accounts/${callers.root.authId}`, limits);
    });
    afterEach(async () => {
      await callers.revive();
      await callers.allReady();
    });
    afterAll(async () => {
      await fleet?.stop();
      await callers?.close();
    });

    const records = async (): Promise<readonly Json[]> => {
      const all: Json[] = [];
      for (let page = 1; ; page += 1) {
        const path = `cdr?per_page=100&page=${page}`;
        const { body, text } = await fleet.node(1).api('GET', path, undefined, callers.root);
        const found = body['data'] as Json[] | undefined;
        if (found === undefined) throw new Error(text);
        all.push(...found);
        if (found.length < 100) return all;
      }
    };

    /** Verifies one record per answered call, one hangup per record in the right order, and no held slots or money. */
    async function allIsRight(phones: Phones): Promise<void> {
      const answered = new Set(phones.answered);
      const all = await eventually(
        'records of all answered calls',
        async () => {
          const found = await records();
          const retained = found.map((one) => String(one['sip_call_id']));
          return [...answered].every((id) => retained.includes(id)) ? found : undefined;
        },
        40_000,
      );
      await eventually(
        'the end of all calls',
        async () => (await callers.live(fleet.node(0)))?.length === 0 || undefined,
        40_000,
      );
      const sipCallIds = all.map((one) => one['sip_call_id']).filter((id) => id !== null);
      expect(new Set(sipCallIds).size).toBe(sipCallIds.length);
      const { customer } = callers;
      const reported = () => customer.at('/hangup').map(({ form }) => form['CallUUID']);
      const uuids = (await records()).map((one) => String(one['uuid']));
      const isReported = () => uuids.every((uuid) => reported().includes(uuid)) || undefined;
      await eventually('hangups of all records', isReported, 40_000);
      expect(new Set(reported()).size).toBe(reported().length);
      const order = customer.posted
        .filter(({ path }) => path === '/hangup' || path === '/answer')
        .map(({ path, form }) => `${path} ${form['CallUUID']}`);
      for (const one of all.filter(({ answer_time }) => answer_time !== null)) {
        const [requested, ended] = ['/answer', '/hangup'].map((path) =>
          order.indexOf(`${path} ${one['uuid']}`),
        );
        expect(requested, String(one['uuid'])).toBeGreaterThanOrEqual(0);
        expect(ended).toBeGreaterThan(requested ?? 0);
      }
      callers.alsoReported(customer.at('/hangup').length - callers.reportOf);
      await callers.allIsOver(fleet.node(2), []);
    }

    it('survives three restarts of Redis, each with an empty data set', async () => {
      const phones = new Phones(fleet, callers);
      for (const refused of [0, 2, 12]) {
        await phones.some();
        await fleet.redis.kill();
        await phones.refused(refused);
        await fleet.redis.start();
      }
      await phones.some();
      await phones.stop();
      await allIsRight(phones);
    });

    it('survives a restart of PostgreSQL while calls start, run and end', async () => {
      const phones = new Phones(fleet, callers);
      for (const refused of [0, 12]) {
        await phones.some();
        fleet.postgres.stop();
        await phones.refused(refused);
        fleet.postgres.start();
      }
      await phones.some();
      await phones.stop();
      await allIsRight(phones);
    });

    it('requests for calls of a dying node get the outcome or an error in time', async () => {
      const calls: RunningCall[] = [];
      for (let i = 0; i < 6; i += 1) {
        const call = await callers.call(0);
        await call.answered;
        calls.push(call);
      }
      const uuids = await eventually('six calls', async () => {
        const live = await callers.live(fleet.node(1));
        return live?.length === 6 ? live : undefined;
      });
      const isRecorded = async (uuid: string): Promise<boolean> =>
        (await records()).some((one) => one['uuid'] === uuid);
      const statuses = new Map<string, number>();
      const over = new Map<string, string>();
      let isOver = false;
      const ask = async (at: number, method: 'GET' | 'DELETE', uuid: string): Promise<void> => {
        const begunMs = performance.now();
        const query = method === 'GET' ? '?status=live' : '';
        const node = fleet.node(at);
        const { status } = await node.api(method, `Call/${uuid}/${query}`, undefined, callers.root);
        const tookMs = performance.now() - begunMs;
        statuses.set(`${method} ${status}`, (statuses.get(`${method} ${status}`) ?? 0) + 1);
        expect(tookMs).toBeLessThan(ANSWERED_MS);
        expect([200, 204, 404, 502, 503, 504]).toContain(status);
        // A node reports a call as ended only after the failed node was declared dead, or after a hangup.
        if (status === 404 || status === 204) over.set(uuid, `${method} ${status}`);
      };
      const [hungUp, looked] = [uuids.slice(0, 3), uuids.slice(3)];
      const asking = [1, 2].map(async (at) => {
        for (let turn = 0; !isOver; turn += 1)
          await ask(at, 'GET', looked[turn % looked.length] ?? '');
      });
      const received = (what: string, count: number): Promise<true> => {
        const wanted = (statuses.get(what) ?? 0) + count;
        const isSo = () => (statuses.get(what) ?? 0) >= wanted || undefined;
        return eventually(`answers ${what}`, isSo, 20_000);
      };
      await received('GET 200', 10);
      const kill = fleet.node(0).kill();
      await Promise.all(hungUp.map((uuid, i) => ask(1 + (i % 2), 'DELETE', uuid)));
      await kill;
      // Until the node is declared dead, the outcome of its calls is unknown.
      expect([...over].filter(([, how]) => how !== 'DELETE 204')).toEqual([]);
      await eventually(
        'the bills of all calls',
        async () => (await Promise.all(uuids.map(isRecorded))).every(Boolean) || undefined,
        20_000,
      );
      await received('GET 404', 4);
      isOver = true;
      await Promise.all(asking);
      process.stdout.write(`${JSON.stringify([...statuses])}\n`);
      for (const call of calls) call.hangUp();
      await Promise.all(calls.map(({ report }) => report.catch(() => undefined)));
      await callers.allIsOver(fleet.node(1), uuids);
    });
  },
);
