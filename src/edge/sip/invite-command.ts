import type { Headers, InviteOptions, OutboundTarget } from '../../domain/call/needs.ts';
import { carrierFormat } from '../../domain/provisioning/provisioning.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import {
  type InviteCommand,
  type InviteTarget,
  type LegId,
  parseUri,
} from '../../protocol/sip/sip.ts';
import { ANONYMOUS, identityHeaders } from './caller-identity.ts';
import { carrierTransport, carrierUri } from './carrier-watch.ts';

interface Context {
  readonly leg: LegId;
  readonly callId: string;
  readonly publicHost: string;
  readonly carriers: readonly Carrier[];
  /** First-response timeout in milliseconds for targets without one. */
  readonly firstResponseMs: number;
}

type Account = InviteOptions['auth'];

const HEADER_NAME = /^[A-Za-z0-9-]+$/;
/** Header fields used only between nodes and edge proxies. */
const OURS = /^x-carillon-/i;

/** INVITE command of an outbound leg, or undefined if its target does not exist or is not a SIP URI. */
export function inviteCommand(
  target: OutboundTarget,
  options: InviteOptions,
  context: Context,
): InviteCommand | undefined {
  const place = placeOf(target, options.auth, context.carriers);
  if (place === undefined) return undefined;
  const host = options.from.host ?? context.publicHost;
  const { user, displayName, hidden } = options.from;
  return {
    kind: 'invite',
    leg: context.leg,
    target: place.target,
    from: hidden === true ? ANONYMOUS : { user, host, displayName },
    callId: context.callId,
    sdp: options.sdp === '' ? undefined : options.sdp,
    sdp6: options.sdp6,
    headers: [...identityHeaders(target, { ...options.from, host }), ...clean(options.headers)],
    account: place.account,
    maxForwards: options.maxForwards,
    ...timersOf(target, place.carrier, context),
  };
}

/** Timeouts of the target. A registered phone may wake slowly, so RFC 3261 timers apply to it. */
function timersOf(
  target: OutboundTarget,
  carrier: Carrier | undefined,
  context: Context,
): Pick<InviteCommand, 'firstResponseMs' | 'answerMs'> {
  if (target.kind === 'endpoint') return {};
  const { firstResponseMs = context.firstResponseMs, answerMs } = carrier?.policy ?? {};
  return { firstResponseMs, answerMs };
}

interface Place {
  readonly target: InviteTarget;
  readonly account: Account | undefined;
  readonly carrier?: Carrier;
}

function placeOf(
  target: OutboundTarget,
  auth: Account,
  carriers: readonly Carrier[],
): Place | undefined {
  if (target.kind === 'endpoint') {
    const { username, secure = false } = target;
    return { target: { kind: 'registered', username, secure }, account: auth };
  }
  if (target.kind === 'uri') {
    const { uri, allow = [], redirectedBy } = target;
    const parsed = parseUri(uri);
    if (parsed?.kind !== 'sip') return undefined;
    const by = carriers.find(({ name }) => name === redirectedBy);
    const transport = by?.transport === 'tls' ? 'tls' : target.transport;
    // A redirection must not use a weaker transport than the original request.
    const named = parsed.params.get('transport')?.toLowerCase();
    const isLess = transport === 'tls' && named !== undefined && named !== 'tls' && !parsed.secure;
    if (isLess) return undefined;
    return {
      target: {
        kind: 'uri',
        uri,
        ...(transport === undefined ? {} : { transport }),
        ...(named === undefined ? { largeOverTcp: target.policy?.largeOverTcp ?? true } : {}),
        ...(target.isNode === true
          ? { viaFlow: true }
          : {
              guard: {
                receivedAt: [],
                allow,
                ...(redirectedBy === undefined ? {} : { carrier: redirectedBy }),
              },
            }),
      },
      account: auth,
    };
  }
  const carrier = carriers.find(({ name, enabled }) => enabled && name === target.carrier);
  if (carrier === undefined) return undefined;
  const number = carrierFormat(carrier, target.number);
  const uri = carrierUri(carrier, number);
  if (parseUri(uri)?.kind !== 'sip') return undefined;
  const place = {
    kind: 'uri',
    uri,
    transport: carrierTransport(carrier),
    largeOverTcp: carrier.policy.largeOverTcp ?? true,
    ...(carrier.auth?.register === true ? { registrar: carrierUri(carrier) } : {}),
  } as const;
  return { target: place, account: auth ?? carrier.auth, carrier };
}

/** Removes header fields with line breaks, and those that control edge proxies, from customer input. */
const clean = (headers: Headers): Headers =>
  headers
    .filter(([name]) => HEADER_NAME.test(name) && !OURS.test(name))
    .map(([name, value]) => [name, value.replace(/[\u0000-\u001f\u007f]+/g, ' ')] as const);
