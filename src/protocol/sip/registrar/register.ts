import type { ContactBinding } from './binding.ts';

/** Limits in seconds, which RFC 3261 §10.2.1.1 and §10.3 leave to the registrar. */
export interface RegistrarLimits {
  readonly defaultExpires: number;
  readonly minExpires: number;
  readonly maxExpires: number;
  readonly maxContacts: number;
}

export const DEFAULT_REGISTRAR_LIMITS: RegistrarLimits = {
  defaultExpires: 3600,
  minExpires: 60,
  maxExpires: 7200,
  maxContacts: 10,
};

export interface RegisterContact {
  /** Contact URI for comparison and calls. */
  readonly uri: string;
  /** Comparison key: contacts with equal keys are the same contact (RFC 3261 §19.1.4). */
  readonly key: string;
  /** Expiry in seconds, or undefined if the contact has no valid expires parameter. */
  readonly expires: number | undefined;
  readonly q: number;
  readonly instanceId: string | undefined;
  /** Flow number, or undefined without outbound support. */
  readonly regId: number | undefined;
}

export interface RegisterRequest {
  readonly username: string;
  /** `*` removes all bindings and requires `Expires: 0`. */
  readonly contacts: '*' | readonly RegisterContact[];
  /** Expires header field in seconds, or undefined if absent or not a number. */
  readonly expires: number | undefined;
  readonly callId: string;
  readonly cseq: number;
  readonly userAgent: string;
  readonly flow: ContactBinding['flow'];
  readonly path: readonly string[];
  /** Temporary login; its bindings expire no later than the login. */
  readonly login?: { readonly id: string; readonly untilUs: number } | undefined;
}

export type RegisterOutcome =
  | {
      readonly status: 200;
      readonly bindings: readonly ContactBinding[];
      readonly saved: readonly ContactBinding[];
      readonly removed: readonly ContactBinding[];
    }
  | { readonly status: 423; readonly minExpires: number }
  | { readonly status: 400 | 403 | 500; readonly reason: string };

const US_PER_SECOND = 1_000_000;

/** Key of an RFC 5626 flow: instance and flow number identify it, regardless of its contact (RFC 5626 §6). */
export const flowKeyOf = (instanceId: string, regId: number): string => `${instanceId} ${regId}`;

/**
 * Applies a REGISTER to the bindings of its address of record (RFC 3261 §10.3 steps 6 to 8), completely or not at all.
 * `contactKey` gives the comparison key of a stored contact.
 */
export function register(
  current: readonly ContactBinding[],
  request: RegisterRequest,
  contactKey: (uri: string) => string,
  limits: RegistrarLimits,
  nowUs: number,
): RegisterOutcome {
  const live = current.filter((binding) => binding.expiresUs > nowUs);
  const expired = current.filter((binding) => binding.expiresUs <= nowUs);
  const outOfOrder = (binding: ContactBinding): boolean =>
    binding.callId === request.callId && request.cseq <= binding.cseq;
  if (request.contacts === '*') {
    if (request.expires !== 0) return { status: 400, reason: 'Contact * Without Expires 0' };
    if (live.some(outOfOrder)) return { status: 500, reason: 'CSeq Out Of Order' };
    return { status: 200, bindings: [], saved: [], removed: current };
  }
  const keyOf = ({ instanceId, regId, contactUri }: ContactBinding): string =>
    instanceId === undefined || regId === undefined
      ? contactKey(contactUri)
      : flowKeyOf(instanceId, regId);
  const bindings = new Map(live.map((binding) => [keyOf(binding), binding]));
  const saved = new Map<string, ContactBinding>();
  const removed = new Map(expired.map((binding) => [keyOf(binding), binding]));
  for (const contact of request.contacts) {
    const wanted = contact.expires ?? request.expires ?? limits.defaultExpires;
    if (wanted > 0 && wanted < limits.minExpires) {
      return { status: 423, minExpires: limits.minExpires };
    }
    const known = replacedBy(contact, bindings, saved);
    if (known !== undefined && outOfOrder(known.binding)) {
      return { status: 500, reason: 'CSeq Out Of Order' };
    }
    if (known !== undefined && (wanted === 0 || isMoved(known, contact))) {
      bindings.delete(known.key);
      removed.set(known.key, known.binding);
    }
    if (wanted === 0) continue;
    const longestUs = nowUs + Math.min(wanted, limits.maxExpires) * US_PER_SECOND;
    const expiresUs = Math.min(longestUs, request.login?.untilUs ?? longestUs);
    const binding = bindingOf(request, contact, expiresUs, nowUs);
    bindings.set(contact.key, binding);
    saved.set(contact.key, binding);
    if (removed.get(contact.key)?.contactUri === contact.uri) removed.delete(contact.key);
  }
  if (bindings.size > limits.maxContacts) return { status: 403, reason: 'Too Many Contacts' };
  return {
    status: 200,
    bindings: [...bindings.values()],
    saved: [...saved.values()],
    removed: [...removed.values()],
  };
}

/**
 * Binding that a contact replaces: same URI, or same +sip.instance (a phone with a new address). Bindings created by
 * the same REGISTER are excluded.
 */
function replacedBy(
  contact: RegisterContact,
  bindings: ReadonlyMap<string, ContactBinding>,
  saved: ReadonlyMap<string, ContactBinding>,
): { readonly key: string; readonly binding: ContactBinding } | undefined {
  if (saved.has(contact.key)) return undefined;
  const same = bindings.get(contact.key);
  if (same !== undefined) return { key: contact.key, binding: same };
  if (contact.instanceId === undefined) return undefined;
  for (const [key, binding] of bindings) {
    const isSibling = contact.regId === undefined || binding.regId === undefined;
    if (isSibling && binding.instanceId === contact.instanceId && !saved.has(key)) {
      return { key, binding };
    }
  }
  return undefined;
}

/** Returns whether the old binding is stored under another key than the new one, in memory or in the store. */
const isMoved = (
  { key, binding }: { readonly key: string; readonly binding: ContactBinding },
  contact: RegisterContact,
): boolean => key !== contact.key || binding.contactUri !== contact.uri;

function bindingOf(
  request: RegisterRequest,
  contact: RegisterContact,
  expiresUs: number,
  nowUs: number,
): ContactBinding {
  return {
    username: request.username,
    contactUri: contact.uri,
    callId: request.callId,
    cseq: request.cseq,
    expiresUs,
    q: contact.q,
    instanceId: contact.instanceId,
    ...(contact.regId === undefined ? {} : { regId: contact.regId }),
    userAgent: request.userAgent,
    flow: request.flow,
    path: request.path,
    ...(request.login === undefined ? {} : { login: request.login.id }),
    updatedUs: nowUs,
  };
}

/** Remaining seconds, rounded down. At most the granted time, even if the wall clock was set back. */
export function secondsLeft(
  { expiresUs, updatedUs }: Pick<ContactBinding, 'expiresUs' | 'updatedUs'>,
  nowUs: number,
): number {
  const leftUs = expiresUs - Math.max(nowUs, updatedUs);
  return Math.max(0, Math.floor(leftUs / US_PER_SECOND));
}
