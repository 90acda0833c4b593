/** Tries the targets of an outbound leg in order. */
import { assert } from '../../base/errors.ts';
import { ok, type Result } from '../../base/result.ts';
import type {
  Headers,
  InviteOptions,
  Leg,
  LegEnd,
  LegOwner,
  Offer,
  OutboundLegEvents,
  OutboundTarget,
  PresentedCaller,
  Signalling,
} from './needs.ts';
import { headersFor } from './onward-headers.ts';

/** Reserved slot at a target that accepts another call. */
export interface TargetSlot {
  readonly target: OutboundTarget;
  /** Time that the call waited for the slot, in ms. */
  readonly waitedMs: number;
  /** Releases the slot after the call has ended. */
  release(): void;
  /** Releases the slot without counting a call start, if no call was placed. */
  undo(): void;
}

/**
 * Reserves a slot at one of `targets`, waiting briefly if all are full. The error describes the exhausted limit. Never
 * rejects.
 */
export type FindSlot = (
  targets: readonly OutboundTarget[],
  signal: AbortSignal,
) => Promise<Result<TargetSlot, string>>;

export interface DialPlan {
  /** Targets in order. The next one is tried only after a failure that does not come from the called party. */
  readonly targets: readonly OutboundTarget[];
  readonly from: PresentedCaller;
  /** Header fields for every target. */
  readonly headers: Headers;
  /** Header fields of the preceding call, and the names to pass on where a target's policy does not say otherwise. */
  readonly onward?: { readonly headers: Headers; readonly passed: readonly string[] };
  /** Remaining Max-Forwards (RFC 3261 §20.22); undefined: 70. */
  readonly maxForwards?: number | undefined;
  readonly auth?: NonNullable<InviteOptions['auth']>;
  /** Slot search. Default: the first target, without a limit. */
  readonly findSlot?: FindSlot;
  /** Creates the Identity header fields for a target when it is called. Never rejects. */
  readonly sign?: (target: OutboundTarget) => Promise<Headers>;
}

/** Callbacks from target selection to its call. */
export interface TargetSelector {
  readonly owner: LegOwner;
  /** Leg events. `ended` is called only when no further target follows. */
  readonly events: OutboundLegEvents;
  /** Abort signal: aborted when the call has ended. */
  readonly signal: AbortSignal;
  /**
   * Returns our offer, or undefined if the call has ended. Called after a slot is reserved, so that a waiting call holds
   * no RTP port.
   */
  offer(target: OutboundTarget): Promise<Offer | undefined>;
  /** An INVITE is about to be sent. `attempt` counts from 1. */
  trying(target: OutboundTarget, attempt: number, waitedMs: number): void;
  /** No remaining target accepts a call now. */
  noSlot(detail: string): void;
  /** The leg of the current target has been created. */
  took(leg: Leg): void;
  /** Returns whether the next target may be tried: not after the current one has rung, unless it redirects the call. */
  mayForward(redirected: boolean): boolean;
  /** The target failed, and the next one is tried. */
  wentOn(after: LegEnd): void;
}

/** Default maximum number of redirections per call (RFC 3261 §8.1.3.4). */
const MAX_REDIRECTS = 3;

/** Progress of target selection. */
interface Progress {
  readonly attempt: number;
  readonly redirects: number;
  /** URIs from redirections that were already tried, to prevent loops. */
  readonly seen: ReadonlySet<string>;
}
const NOTHING_ONWARD = { headers: [], passed: [] } as const;
const AT_THE_START: Progress = { attempt: 1, redirects: 0, seen: new Set() };

/** Tries the targets. Resolves once the first INVITE has been sent, or when no target can be tried. */
export async function tryTargets(
  signalling: Signalling,
  plan: DialPlan,
  selector: TargetSelector,
  progress = AT_THE_START,
): Promise<void> {
  const { findSlot = firstTarget } = plan;
  const found = await findSlot(plan.targets, selector.signal);
  if (!found.ok) {
    selector.noSlot(found.error);
    return;
  }
  const slot = found.value;
  const { target, waitedMs } = slot;
  const offer = await offerOf(selector, slot);
  const signed = offer === undefined || plan.sign === undefined ? [] : await plan.sign(target);
  if (offer === undefined || selector.signal.aborted) {
    slot.undo();
    return;
  }
  const { targets } = plan;
  const others = targets.length === 1 ? [] : targets.filter((other) => other !== target);
  selector.trying(target, progress.attempt, waitedMs);
  const { headers: own, onward = NOTHING_ONWARD, from, maxForwards, auth } = plan;
  // A peer that redirects the call must not direct the password to another host.
  const mayLogIn = target.kind !== 'uri' || !progress.seen.has(target.uri);
  const headers = headersFor(target.policy, {
    own: own.concat(signed),
    onward: onward.headers,
    passed: onward.passed,
  });
  const leg = signalling.invite(
    target,
    {
      ...offer,
      from,
      headers,
      maxForwards,
      owner: selector.owner,
      auth: mayLogIn ? auth : undefined,
    },
    {
      ...selector.events,
      ended: (end) => {
        slot.release();
        const next = nextTargets({ target, others, end }, progress);
        if (next.targets.length > 0 && selector.mayForward(next.isRedirect)) {
          selector.wentOn(end);
          void tryTargets(signalling, { ...plan, targets: next.targets }, selector, next.progress);
        } else selector.events.ended(end);
      },
    },
  );
  selector.took(leg);
}

/** Returns the targets to try after a failed attempt; empty if it was the last. */
function nextTargets(
  {
    target,
    others,
    end,
  }: {
    readonly target: OutboundTarget;
    readonly others: readonly OutboundTarget[];
    readonly end: LegEnd;
  },
  { attempt, redirects, seen }: Progress,
): { readonly targets: readonly OutboundTarget[]; isRedirect: boolean; progress: Progress } {
  const progress = { attempt: attempt + 1, redirects, seen };
  const isRedirect = end.contacts !== undefined && redirects < maxRedirectsOf(target);
  const fresh = isRedirect ? (end.contacts ?? []).filter((uri) => !seen.has(uri)) : [];
  if (fresh.length > 0) {
    return {
      targets: [...fresh.map((uri) => redirected(target, uri)), ...others],
      isRedirect: true,
      progress: { ...progress, redirects: redirects + 1, seen: new Set([...seen, ...fresh]) },
    };
  }
  return { targets: mayFailOver(end, target) ? others : [], isRedirect: false, progress };
}

const maxRedirectsOf = (target: OutboundTarget): number =>
  target.kind === 'endpoint' ? MAX_REDIRECTS : (target.maxRedirects ?? MAX_REDIRECTS);

/** Builds the target of a redirection. The peer named the URI, so it must pass the destination check. */
function redirected(target: OutboundTarget, uri: string): OutboundTarget {
  const { srtp, codecs, isTrunk = false, policy: reported } = target;
  if (target.kind === 'endpoint') return { kind: 'uri', uri, srtp, codecs };
  const { failoverOn, maxRedirects } = target;
  const policy = {
    srtp,
    policy: reported && { ...reported, identity: 'untrusted' as const },
    codecs,
    // Targets named by a carrier or trunk get the same default codecs.
    isTrunk: isTrunk || target.kind === 'carrier',
    ...(failoverOn === undefined ? {} : { failoverOn }),
    ...(maxRedirects === undefined ? {} : { maxRedirects }),
  };
  const redirectedBy = target.kind === 'carrier' ? target.carrier : target.redirectedBy;
  return {
    kind: 'uri',
    uri,
    ...policy,
    ...(target.kind === 'uri' && target.allow !== undefined ? { allow: target.allow } : {}),
    ...(target.kind === 'uri' && target.transport === 'tls' ? { transport: 'tls' } : {}),
    ...(redirectedBy === undefined ? {} : { redirectedBy }),
  };
}

async function offerOf(selector: TargetSelector, slot: TargetSlot): Promise<Offer | undefined> {
  try {
    return await selector.offer(slot.target);
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

/**
 * Default statuses that allow failover: authentication failures, timeouts and server errors. Responses of the called
 * party (486, 603 …) never do.
 */
const FAILOVER_ON: readonly string[] = ['401', '403', '407', '408', '5xx'];

function mayFailOver({ how, status = 0 }: LegEnd, target: OutboundTarget): boolean {
  if (how !== 'refused') {
    return (
      how === 'timeout' || how === 'transport' || how === 'unreachable' || how === 'notAllowed'
    );
  }
  const { failoverOn = FAILOVER_ON } = target.kind === 'endpoint' ? {} : target;
  return failoverOn.some((text) => text === String(status) || text === `${String(status)[0]}xx`);
}
