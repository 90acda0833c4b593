/** Tries the targets of an outbound leg one after the other. */
import { assert } from '../../base/errors.ts';
import { ok, type Result } from '../../base/result.ts';
import type {
  Headers,
  Leg,
  LegEnd,
  OutboundLegEvents,
  OutboundTarget,
  Signalling,
} from './needs.ts';

/** A slot at a target that takes a further call. */
export interface TargetSlot {
  readonly target: OutboundTarget;
  /** How long the call waited for the slot. */
  readonly waitedMs: number;
  /** Gives the slot back when the call has ended. */
  release(): void;
  /** Gives the slot back when no call was made of it: it does not count as a start. */
  undo(): void;
}

/** Finds a slot at one of `targets`, waiting a little when there is none; an error says what is full. Never rejects. */
export type FindSlot = (
  targets: readonly OutboundTarget[],
  signal: AbortSignal,
) => Promise<Result<TargetSlot, string>>;

export interface DialPlan {
  /** Tried one after the other: the next only after a timeout, a 503 or a transport error. */
  readonly targets: readonly OutboundTarget[];
  readonly from: { readonly user: string; readonly host?: string; readonly displayName: string };
  readonly headers: Headers;
  readonly auth?: { readonly username: string; readonly password: string };
  /** Absent: the first target, without a limit. */
  readonly findSlot?: FindSlot;
}

/** What the search needs of its call. */
export interface Hunter {
  /** What happens on the leg; its end is told only when no further target follows. */
  readonly events: OutboundLegEvents;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /**
   * Our SDP; undefined when the call is over. Asked for once there is a slot, so that a call that only waits holds no RTP
   * port.
   */
  offer(target: OutboundTarget): Promise<string | undefined>;
  /** An INVITE goes out; attempts count from 1. */
  trying(target: OutboundTarget, attempt: number, waitedMs: number): void;
  /** None of the targets that are left takes a call now. */
  noSlot(detail: string): void;
  /** The target's leg. */
  took(leg: Leg): void;
  /** Whether the next target may be tried: not after this one has rung. */
  mayGoOn(): boolean;
  /** This target has failed, and the next one is tried. */
  wentOn(after: LegEnd): void;
}

/** Resolves once the first INVITE has been sent, or when none will be. */
export async function huntTargets(
  signalling: Signalling,
  plan: DialPlan,
  hunter: Hunter,
  attempt = 1,
): Promise<void> {
  const { findSlot = firstTarget } = plan;
  const found = await findSlot(plan.targets, hunter.signal);
  if (!found.ok) {
    hunter.noSlot(found.error);
    return;
  }
  const { target, waitedMs, release, undo } = found.value;
  const sdp = await offerOf(hunter, found.value);
  if (sdp === undefined || hunter.signal.aborted) {
    undo();
    return;
  }
  const rest = { ...plan, targets: plan.targets.filter((other) => other !== target) };
  hunter.trying(target, attempt, waitedMs);
  const leg = signalling.invite(
    target,
    { ...plan, sdp },
    {
      ...hunter.events,
      ended: (end) => {
        release();
        if (rest.targets.length > 0 && hunter.mayGoOn() && mayFailOver(end)) {
          hunter.wentOn(end);
          void huntTargets(signalling, rest, hunter, attempt + 1);
        } else hunter.events.ended(end);
      },
    },
  );
  hunter.took(leg);
}

async function offerOf(hunter: Hunter, slot: TargetSlot): Promise<string | undefined> {
  try {
    return await hunter.offer(slot.target);
  } catch (error) {
    slot.undo();
    throw error;
  }
}

const firstTarget: FindSlot = async ([target]) => {
  assert(target !== undefined, 'a dial plan has a target');
  return ok({ target, waitedMs: 0, release: () => undefined, undo: () => undefined });
};

export function describeTarget(target: OutboundTarget): string {
  if (target.kind === 'endpoint') return `endpoint ${target.username}`;
  return target.kind === 'uri' ? target.uri : `${target.number} via ${target.carrier}`;
}

/** Failover only where the next target may do better; never after the called party has decided (486, 603 …). */
const mayFailOver = (end: LegEnd): boolean =>
  end.how === 'timeout' ||
  end.how === 'transport' ||
  end.how === 'unreachable' ||
  end.how === 'notAllowed' ||
  (end.how === 'refused' && end.status === 503);
