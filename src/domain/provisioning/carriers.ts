import type { Changes } from '../../base/changes.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CarrierStore } from './needs.ts';
import { type Considered, consider, type RoutingMoment, ranked } from './routing.ts';
import type { Carrier, CarrierPatch, CarrierPolicy } from './types.ts';

/** Default limits of a carrier. */
const DEFAULT_CPS = 50;
const DEFAULT_CONCURRENT_CALLS = 1000;

export type CarrierRefusal =
  | { readonly kind: 'unknownCarrier' }
  | { readonly kind: 'carrierExists' };

export type NewCarrier = Pick<Carrier, 'name' | 'host'> & CarrierPatch;

/** Manages the operator's SIP gateways and selects those for a number. */
export class Carriers {
  readonly #store: CarrierStore;
  readonly #byName = new Map<string, Carrier>();

  constructor(store: CarrierStore) {
    this.#store = store;
  }

  /**
   * Loads the stored carriers into memory. Runs at the start and after another node changed carriers. They are few
   * and needed for every call.
   */
  async load(): Promise<void> {
    const stored = await this.#store.listAll();
    this.#byName.clear();
    for (const carrier of stored) this.#byName.set(carrier.name, carrier);
  }

  async create(input: NewCarrier): Promise<Result<Carrier, CarrierRefusal>> {
    const carrier: Carrier = {
      port: undefined,
      transport: 'udp',
      auth: undefined,
      sourceAddresses: [],
      prefixes: [''],
      strip: 0,
      prepend: '',
      cpsLimit: DEFAULT_CPS,
      concurrentCallsLimit: DEFAULT_CONCURRENT_CALLS,
      secure: false,
      priority: 1,
      enabled: true,
      policy: {},
      ...input,
    };
    const inserted = await this.#store.insert(carrier);
    if (!inserted.ok) return err({ kind: inserted.error });
    this.#byName.set(carrier.name, carrier);
    return ok(carrier);
  }

  /** `policy` changes the stored policy, which another request may change at the same time. */
  async patch(
    name: string,
    patch: CarrierPatch,
    policy?: Changes<CarrierPolicy>,
  ): Promise<Result<Carrier, CarrierRefusal>> {
    const changed = await this.#store.patch(name, patch, policy);
    if (changed === undefined) return err({ kind: 'unknownCarrier' });
    this.#byName.set(name, changed);
    return ok(changed);
  }

  async remove(name: string): Promise<Result<void, CarrierRefusal>> {
    const removed = await this.#store.remove(name);
    this.#byName.delete(name);
    return removed ? ok(undefined) : err({ kind: 'unknownCarrier' });
  }

  get(name: string): Carrier | undefined {
    return this.#byName.get(name);
  }

  list(): readonly Carrier[] {
    return [...this.#byName.values()];
  }

  /** Returns the carriers for `e164` in the order in which they are tried. */
  routesFor(e164: string, moment: RoutingMoment = {}): readonly Carrier[] {
    return ranked(this.considered(e164, moment), moment).map(({ carrier }) => carrier);
  }

  /** Returns every carrier with the facts that select or exclude it. */
  considered(e164: string, moment: RoutingMoment): readonly Considered[] {
    return consider(this.#byName.values(), e164, moment);
  }
}
