/** Tries the targets of an outbound leg one after the other. */
import { assert } from '../../base/errors.ts';
import { ok, type Result } from '../../base/result.ts';
import type {
  Headers,
  Leg,
  LegEnd,
  LegOwner,
  OutboundLegEvents,
  OutboundTarget,
  PresentedCaller,
  Signalling,
} from './needs.ts';
import { headersFor } from './onward-headers.ts';

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
  /** Tried one after the other: the next only after a failure that says nothing about the called party. */
  readonly targets: readonly OutboundTarget[];
  readonly from: PresentedCaller;
  /** What every target gets. */
  readonly headers: Headers;
  /** Of the call that this one follows from: its header fields, and the names that go on where a target says nothing else. */
  readonly onward?: { readonly headers: Headers; readonly passed: readonly string[] };
  /** Hops that are left (RFC 3261 §20.22); undefined: 70. */
  readonly maxForwards?: number | undefined;
  readonly auth?: { readonly username: string; readonly password: string };
  /** Absent: the first target, without a limit. */
  readonly findSlot?: FindSlot;
  /** Header fields that prove to a target who calls, made when it is called. Never rejects. */
  readonly sign?: (target: OutboundTarget) => Promise<Headers>;
}

/** What the search needs of its call. */
export interface TargetSelector {
  readonly owner: LegOwner;
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
  /** Whether the next target may be tried: not after this one has rung, unless it says itself where to go (`redirected`). */
  mayGoOn(redirected: boolean): boolean;
  /** This target has failed, and the next one is tried. */
  wentOn(after: LegEnd): void;
}

/** Redirections that one call follows where its target says nothing else (RFC 3261 §8.1.3.4). */
const MAX_REDIRECTS = 3;

/** How far the search has come. */
interface Progress {
  readonly attempt: number;
  readonly redirects: number;
  /** URIs that a redirection led to: none of them twice. */
  readonly seen: ReadonlySet<string>;
}
const NOTHING_ONWARD = { headers: [], passed: [] } as const;
const AT_THE_START: Progress = { attempt: 1, redirects: 0, seen: new Set() };

/** Resolves once the first INVITE has been sent, or when none will be. */
export async function tryTargets(
  signalling: Signalling,
  plan: DialPlan,
  hunter: TargetSelector,
  progress = AT_THE_START,
): Promise<void> {
  const { findSlot = firstTarget } = plan;
  const found = await findSlot(plan.targets, hunter.signal);
  if (!found.ok) {
    hunter.noSlot(found.error);
    return;
  }
  const slot = found.value;
  const { target, waitedMs } = slot;
  const sdp = await offerOf(hunter, slot);
  const signed = sdp === undefined || plan.sign === undefined ? [] : await plan.sign(target);
  if (sdp === undefined || hunter.signal.aborted) {
    slot.undo();
    return;
  }
  const { targets } = plan;
  const others = targets.length === 1 ? [] : targets.filter((other) => other !== target);
  hunter.trying(target, progress.attempt, waitedMs);
  const { headers: own, onward = NOTHING_ONWARD, from, maxForwards, auth } = plan;
  const headers = headersFor(target.policy, {
    own: own.concat(signed),
    onward: onward.headers,
    passed: onward.passed,
  });
  const leg = signalling.invite(
    target,
    { from, headers, maxForwards, sdp, owner: hunter.owner, auth },
    {
      ...hunter.events,
      ended: (end) => {
        slot.release();
        const next = nextTargets({ target, others, end }, progress);
        if (next.targets.length > 0 && hunter.mayGoOn(next.isRedirect)) {
          hunter.wentOn(end);
          void tryTargets(signalling, { ...plan, targets: next.targets }, hunter, next.progress);
        } else hunter.events.ended(end);
      },
    },
  );
  hunter.took(leg);
}

/** Where to go after the end of an attempt; nowhere: it was the last. */
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

/** Named by the peer: it passes the guard of destinations, whoever the peer is. */
function redirected(target: OutboundTarget, uri: string): OutboundTarget {
  const { srtp, codecs, isTrunk = false, policy: told } = target;
  if (target.kind === 'endpoint') return { kind: 'uri', uri, srtp, codecs };
  const { failoverOn, maxRedirects } = target;
  const policy = {
    ...{ srtp, policy: told && { ...told, identity: 'untrusted' as const } },
    codecs,
    // Whoever a carrier or trunk names in its place speaks as it does.
    isTrunk: isTrunk || target.kind === 'carrier',
    ...(failoverOn === undefined ? {} : { failoverOn }),
    ...(maxRedirects === undefined ? {} : { maxRedirects }),
  };
  const redirectedBy = target.kind === 'carrier' ? target.carrier : target.redirectedBy;
  return {
    ...{ kind: 'uri', uri, ...policy },
    ...(target.kind === 'uri' && target.allow !== undefined ? { allow: target.allow } : {}),
    ...(target.kind === 'uri' && target.transport === 'tls' ? { transport: 'tls' } : {}),
    ...(redirectedBy === undefined ? {} : { redirectedBy }),
  };
}

async function offerOf(hunter: TargetSelector, slot: TargetSlot): Promise<string | undefined> {
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

/**
 * Statuses after which the next target may do better: credentials that are wrong there, a timeout, the peer's own trouble.
 * Never what the called party decided (486, 603 …).
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
