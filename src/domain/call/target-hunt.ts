/** An outbound leg and the targets that it may have, one after the other. */
import { assert } from '../../base/errors.ts';
import type {
  Headers,
  Leg,
  LegEnd,
  OutboundLegEvents,
  OutboundTarget,
  Signalling,
} from './needs.ts';

export interface DialPlan {
  /** Tried one after the other: the next only after a timeout, a 503 or a transport error. */
  readonly targets: readonly OutboundTarget[];
  readonly from: { readonly user: string; readonly host?: string; readonly displayName: string };
  readonly headers: Headers;
  readonly auth?: { readonly username: string; readonly password: string };
}

/** The call that hunts. */
export interface Hunter {
  /** What happens on the leg; its end is told only when no further target follows. */
  readonly events: OutboundLegEvents;
  /** An INVITE goes out; attempts count from 1. */
  trying(target: OutboundTarget, attempt: number): void;
  /** The target's leg. */
  took(leg: Leg): void;
  /** Whether it may still have another target; it has taken this one for good once that has rung. */
  mayGoOn(): boolean;
  /** This target is out, and the next one follows. */
  wentOn(after: LegEnd): void;
}

export function huntTargets(
  signalling: Signalling,
  plan: DialPlan & { readonly sdp: string },
  hunter: Hunter,
  index = 0,
): void {
  const target = plan.targets[index];
  assert(target !== undefined, 'a dial plan has a target');
  hunter.trying(target, index + 1);
  const leg = signalling.invite(target, plan, {
    ...hunter.events,
    ended: (end) => {
      if (index + 1 < plan.targets.length && hunter.mayGoOn() && mayFailOver(end)) {
        hunter.wentOn(end);
        huntTargets(signalling, plan, hunter, index + 1);
      } else hunter.events.ended(end);
    },
  });
  hunter.took(leg);
}

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
