/** Finds a carrier whose limits allow another call. The slots of carriers are shared fairly among accounts. */
import { err, ok, type Result } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import type { FindSlot, TargetSlot } from '../call/call.ts';
import type { OutboundTarget } from '../call/needs.ts';
import type { CapacitySlot, FairShare, Place, ShareRefusal } from '../capacity/capacity.ts';
import type { Carriers } from '../provisioning/provisioning.ts';
import type { Carrier } from '../provisioning/types.ts';
import { type SlotRefusal, sharerOf } from './admission.ts';
import type { DispatchNeeds } from './needs.ts';

export interface GateNeeds {
  readonly carriers: Pick<Carriers, 'get'>;
  readonly shares: FairShare;
  /** How long a call waits for a slot. */
  readonly waitMs: number;
}

/**
 * A carrier that is full is passed over, so that the next one takes the call; when all are full, the call waits a little for
 * the first that has a free slot.
 */
export class CarrierGate {
  readonly #needs: GateNeeds;

  constructor(needs: GateNeeds) {
    this.#needs = needs;
  }

  /** For one call of `owner`. `held`: a slot that was found before; the first INVITE uses it. */
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
    const carriers: Array<{ readonly target: OutboundTarget; readonly carrier: Carrier }> = [];
    for (const target of targets) {
      const carrier =
        target.kind === 'carrier' ? this.#needs.carriers.get(target.carrier) : undefined;
      if (carrier === undefined) return ok(unlimited(target));
      carriers.push({ target, carrier });
    }
    const { shares, waitMs } = this.#needs;
    const places = carriers.map(({ carrier }) => placeOf(carrier));
    const taken = await shares.wait(places, sharerOf(owner), { waitMs, signal });
    if (!taken.ok) {
      const { refusals, waitedMs } = taken.error;
      const full = carriers.map(({ carrier }, index) => describe(carrier, refusals[index]));
      return err(`${full.join('; ')} (waited ${Math.round(waitedMs)} ms)`);
    }
    const { index, slot, waitedMs } = taken.value;
    const { target } = carriers[index] ?? {};
    if (target === undefined) throw new RangeError('a place that was not asked for');
    return ok({ target, waitedMs, release: slot.release, undo: slot.undo });
  }
}

/** A slot for a call that the carrier brings: calls both ways count together against its limits. Without waiting. */
export function slotAtCarrier(
  carrier: Carrier,
  owner: Account,
  shares: FairShare,
): Result<CapacitySlot, SlotRefusal> {
  const taken = shares.take(placeOf(carrier), sharerOf(owner));
  if (taken.ok) return taken;
  const { retryAfterMs } = taken.error;
  return err({ kind: 'node', detail: describe(carrier, taken.error), retryAfterMs });
}

/** The gate of all who dial. */
export const gateOf = ({ provisioning, shares, settings }: DispatchNeeds): CarrierGate =>
  new CarrierGate({ carriers: provisioning.carriers, shares, waitMs: settings.waitForSlotMs });

const placeOf = ({ name, concurrentCallsLimit, cpsLimit }: Carrier): Place => ({
  key: `carrier:${name}`,
  limits: { concurrentCalls: concurrentCallsLimit, cps: cpsLimit },
});

const unlimited = (target: OutboundTarget): TargetSlot => ({
  target,
  waitedMs: 0,
  release: () => undefined,
  undo: () => undefined,
});

function describe({ name }: Carrier, refusal: ShareRefusal | undefined): string {
  switch (refusal?.kind) {
    case 'concurrency':
      return `carrier ${name} is full: ${refusal.limit} calls at once`;
    case 'cps':
      return `carrier ${name} is full: ${refusal.limit} calls per second`;
    default:
      return `carrier ${name} is full: this account has its share of it`;
  }
}
