/** Finds a carrier whose limits allow another call. The slots of carriers are shared fairly among accounts. */
import type { Clock } from '../../base/clock.ts';
import { noOperation } from '../../base/no-operation.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import type { FindSlot, TargetSlot } from '../call/call.ts';
import type { OutboundTarget } from '../call/needs.ts';
import type {
  CapacityRefusal,
  CapacitySlot,
  FairShare,
  Place,
  ShareRefusal,
  Slots,
} from '../capacity/capacity.ts';
import type { Carriers } from '../provisioning/provisioning.ts';
import type { Carrier } from '../provisioning/types.ts';
import { CAPACITY_UNKNOWN, type SlotRefusal, sharerOf } from './admission.ts';
import type { DispatchNeeds } from './needs.ts';

export interface GateNeeds {
  readonly carriers: Pick<Carriers, 'get'>;
  readonly shares: FairShare;
  /** Cluster-wide slots of carriers, checked after `shares`. */
  readonly slots: Slots;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  /** Maximum time that a call waits for a slot, in ms. */
  readonly waitMs: number;
}

/**
 * Skips full carriers, so that the next one gets the call. If all are full, the call waits up to `waitMs` for the first
 * free slot.
 */
export class CarrierGate {
  readonly #needs: GateNeeds;

  constructor(needs: GateNeeds) {
    this.#needs = needs;
  }

  /** Returns the slot search for one call of `owner`. `held`: slots found earlier; the first INVITE uses one. */
  slotFor(owner: Account, held: TargetSlot[] = []): FindSlot {
    return (targets, signal) => {
      const slot = held.pop();
      return slot === undefined ? this.find(owner, targets, signal) : Promise.resolve(ok(slot));
    };
  }

  async find(
    owner: Account,
    targets: readonly OutboundTarget[],
    signal: AbortSignal,
  ): Promise<Result<TargetSlot, string>> {
    const carriers: Choice[] = [];
    for (const target of targets) {
      const carrier =
        target.kind === 'carrier' ? this.#needs.carriers.get(target.carrier) : undefined;
      if (carrier === undefined) return ok(unlimited(target));
      carriers.push({ target, carrier });
    }
    const { clock, waitMs } = this.#needs;
    const beganMs = clock.monotonicMs();
    for (;;) {
      const leftMs = Math.max(0, waitMs - (clock.monotonicMs() - beganMs));
      const found = await this.#take(carriers, owner, leftMs, signal);
      const isOver = found.ok || found.error.againMs === undefined || leftMs === 0;
      if (found.ok) {
        const { target, slot } = found.value;
        return ok(new HeldTarget(target, slot, clock.monotonicMs() - beganMs));
      }
      if (isOver || signal.aborted) {
        const waited = Math.round(clock.monotonicMs() - beganMs);
        return err(`${found.error.full} (waited ${waited} ms)`);
      }
      await clock.sleep(Math.min(found.error.againMs ?? 0, leftMs), signal).catch(() => undefined);
    }
  }

  /** Tries to reserve a slot. `againMs`: other nodes hold the free capacity; retry after that time. */
  async #take(
    carriers: readonly Choice[],
    owner: Account,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Result<{ readonly target: OutboundTarget; readonly slot: CapacitySlot }, Full>> {
    const { shares, slots } = this.#needs;
    const left = [...carriers];
    const full: string[] = [];
    let againMs: number | undefined;
    while (left.length > 0) {
      const places = left.map(({ carrier }) => placeOf(carrier));
      const wait = { waitMs: againMs === undefined ? waitMs : 0, signal };
      const taken = await shares.wait(places, sharerOf(owner), wait);
      if (!taken.ok) {
        const { refusals } = taken.error;
        full.push(...left.map(({ carrier }, index) => describe(carrier, refusals[index])));
        break;
      }
      const { index, slot } = taken.value;
      const [choice] = left.splice(index, 1);
      if (choice === undefined) throw new RangeError('the index does not match a requested place');
      const { key, limits } = placeOf(choice.carrier);
      const shared = slots.isShared ? await slots.take(key, limits) : undefined;
      if (shared === undefined || shared.ok) {
        const { target } = choice;
        return ok({ target, slot: shared === undefined ? slot : both(slot, shared.value) });
      }
      slot.undo();
      againMs = Math.min(againMs ?? AGAIN_MS, shared.error.retryAfterMs);
      full.push(sharedRefusal(choice.carrier, shared.error));
    }
    return err({ full: full.join('; '), againMs });
  }
}

interface Choice {
  readonly target: OutboundTarget;
  readonly carrier: Carrier;
}

interface Full {
  readonly full: string;
  readonly againMs: number | undefined;
}

/** Retry interval, because releases on other nodes are not reported. */
const AGAIN_MS = 100;

const both = (own: CapacitySlot, shared: CapacitySlot): CapacitySlot => ({
  release() {
    own.release();
    shared.release();
  },
  undo() {
    own.undo();
    shared.undo();
  },
});

/**
 * Reserves a slot for an inbound call from the carrier, without waiting. Calls in both directions count against its
 * limits.
 */
export async function slotAtCarrier(
  carrier: Carrier,
  owner: Account,
  { shares, slots }: Pick<GateNeeds, 'shares' | 'slots'>,
): Promise<Result<CapacitySlot, SlotRefusal>> {
  const { key, limits } = placeOf(carrier);
  const own = shares.take({ key, limits }, sharerOf(owner));
  if (!own.ok) {
    const { retryAfterMs } = own.error;
    return err({ kind: 'node', detail: describe(carrier, own.error), retryAfterMs });
  }
  if (!slots.isShared) return own;
  const shared = await slots.take(key, limits);
  if (shared.ok) return ok(both(own.value, shared.value));
  own.value.undo();
  const detail = sharedRefusal(carrier, shared.error);
  const unknown = shared.error.kind === 'away' ? ({ unserviceable: true } as const) : {};
  return err({ kind: 'node', detail, retryAfterMs: shared.error.retryAfterMs, ...unknown });
}

/** Creates the carrier gate for outbound calls. */
export const gateOf = ({
  provisioning,
  shares,
  capacity: slots,
  clock,
  settings,
}: DispatchNeeds): CarrierGate =>
  new CarrierGate({
    carriers: provisioning.carriers,
    shares,
    slots,
    clock,
    waitMs: settings.waitForSlotMs,
  });

const placeOf = ({ name, concurrentCallsLimit, cpsLimit }: Carrier): Place => ({
  key: `carrier:${name}`,
  limits: { concurrentCalls: concurrentCallsLimit, cps: cpsLimit },
});

const NO_LIMIT: CapacitySlot = { release: noOperation, undo: noOperation };
const unlimited = (target: OutboundTarget): TargetSlot => new HeldTarget(target, NO_LIMIT, 0);

class HeldTarget implements TargetSlot {
  readonly target: OutboundTarget;
  readonly waitedMs: number;
  readonly #slot: CapacitySlot;

  constructor(target: OutboundTarget, slot: CapacitySlot, waitedMs: number) {
    this.target = target;
    this.waitedMs = waitedMs;
    this.#slot = slot;
  }

  release(): void {
    this.#slot.release();
  }

  undo(): void {
    this.#slot.undo();
  }
}

const sharedRefusal = ({ name }: Carrier, { kind }: CapacityRefusal): string =>
  kind === 'away' ? CAPACITY_UNKNOWN : `carrier ${name} is full across all nodes`;

function describe({ name }: Carrier, refusal: ShareRefusal | undefined): string {
  switch (refusal?.kind) {
    case 'concurrency':
      return `carrier ${name} is full: ${refusal.limit} concurrent calls`;
    case 'cps':
      return `carrier ${name} is full: ${refusal.limit} calls per second`;
    default:
      return `carrier ${name} is full: this account uses its share`;
  }
}
