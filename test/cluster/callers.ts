/** Callers of a fleet, and the invariants that hold after they hang up, regardless of failures during the calls. */
import { expect } from 'vitest';
import { Customer, echoBot, streamXml } from '../e2e/customer.ts';
import { makeUser, type RunningCall, type SipUser, startCall } from '../e2e/phone.ts';
import { type AccountKey, eventually, type Json, type Service } from '../e2e/service.ts';
import type { Fleet } from './fleet.ts';

const SLOTS_BACK_MS = 30_000;

export class Callers {
  readonly customer: Customer;
  readonly user: SipUser;
  readonly root: AccountKey;
  readonly #fleet: Fleet;
  /** Number of calls for which the customer must have received a hangup notification. */
  #reported = 0;

  private constructor(fleet: Fleet, made: Pick<Callers, 'customer' | 'user' | 'root'>) {
    this.#fleet = fleet;
    this.customer = made.customer;
    this.user = made.user;
    this.root = made.root;
  }

  static async of(fleet: Fleet): Promise<Callers> {
    const customer = await Customer.listen();
    const user = await makeUser(fleet.node(0), 'carol', {
      answer_url: customer.xml('/answer', streamXml(customer.bot('/bot', echoBot))),
      hangup_url: `http://${customer.authority}/hangup`,
    });
    return new Callers(fleet, { customer, user, root: fleet.node(0).demo });
  }

  async records(by: Service): Promise<readonly Json[]> {
    return (await by.api('GET', 'cdr?per_page=100', undefined, this.root)).body['data'] as Json[];
  }

  /** Live calls as listed by node `by`, or undefined if the list request fails. */
  async live(by: Service): Promise<readonly string[] | undefined> {
    const { body } = await by.api('GET', 'Call/?status=live', undefined, this.root);
    return body['calls'] as string[];
  }

  call(at: number, seconds = 60): Promise<RunningCall> {
    return startCall(this.#fleet.node(at), this.user, { seconds });
  }

  async answeredOn(at: number): Promise<{ call: RunningCall; uuid: string }> {
    const node = this.#fleet.node(at);
    const before = await eventually('the calls before', () => this.live(node));
    const call = await this.call(at);
    await call.answered;
    const uuid = await eventually('the call', async () =>
      (await this.live(node))?.find((one) => !before.includes(one)),
    );
    return { call, uuid };
  }

  /**
   * Calls until the node accepts a call. After Redis lost its data, nodes refuse calls for about a second, until all slots
   * are registered; refused calls have no record then.
   */
  acceptedOn(at: number): Promise<{ call: RunningCall; uuid: string }> {
    return eventually('an accepted call', () => this.answeredOn(at).catch(() => undefined));
  }

  /** Adds refused calls to the expected hangup notifications. Refused calls also have a record. */
  alsoReported(calls: number): void {
    this.#reported += calls;
  }

  /** Expected number of hangup notifications. */
  get reportOf(): number {
    return this.#reported;
  }

  /** Verifies that each call has one record and one hangup notification, no slot or money is held, and balances are right. */
  async allIsOver(by: Service, calls: readonly string[], limitMs = 15_000): Promise<void> {
    this.#reported += calls.length;
    const recorded = async (): Promise<readonly unknown[]> =>
      (await this.records(by)).map(({ uuid }) => uuid);
    await eventually(
      'records of all calls',
      async () => {
        const uuids = await recorded();
        return calls.every((call) => uuids.includes(call)) || undefined;
      },
      limitMs,
    );
    await eventually(
      'all hangup notifications',
      () => this.customer.at('/hangup').length >= this.#reported || undefined,
    );
    const uuids = this.customer.at('/hangup').map(({ form }) => form['CallUUID']);
    for (const call of calls) expect(uuids.filter((uuid) => uuid === call)).toHaveLength(1);
    const all = await recorded();
    expect(new Set(all).size).toBe(all.length);
    await eventually(
      'released slots',
      async () => {
        const { body } = await by.api('GET', 'concurrency', undefined, this.root);
        return body['concurrent_calls'] === 0 || undefined;
      },
      SLOTS_BACK_MS,
    );
    // A slot is released before the call is settled, and a hangup notification may be one of a refused call.
    await eventually(
      'released funds',
      async () => {
        const { body } = await by.admin('GET', `/accounts/${this.root.authId}`);
        const [balance] = body['balances'] as Json[];
        return Number(balance?.['reserved_funds']) === 0 || undefined;
      },
      limitMs,
    );
    const verified = await by.admin('POST', '/verify');
    expect(verified).toMatchObject({ status: 200, body: { ok: true, faults: [] } });
  }

  /** Restarts the killed nodes. */
  async revive(): Promise<void> {
    for (const [at, { service }] of this.#fleet.nodes.entries()) {
      const { exitCode, signalCode } = service.program.child;
      if (exitCode !== null || signalCode !== null) await this.#fleet.restart(at);
    }
  }

  /** Waits until all nodes accept calls. */
  async allReady(): Promise<void> {
    for (const { service } of this.#fleet.nodes)
      await eventually(
        'a node that accepts calls',
        async () => (await service.get('/readyz')).status === 200 || undefined,
        60_000,
      );
  }

  async close(): Promise<void> {
    await this.customer.close();
  }
}
