import { parseTokenWithParams } from '../header/values.ts';
import type { SipRequest } from '../message.ts';
import { CONTENT_TYPES, EVENT_PACKAGES, type EventPackage } from './event-body.ts';

const DEFAULT_S = 3600;
const LEAST_S = 60;
const MOST_S = 86_400;

/** Requested event package, or undefined if it is absent or unsupported. */
export function requestedEvent(
  request: SipRequest,
): { readonly event: EventPackage; readonly text: string } | undefined {
  const text = request.header('event') ?? '';
  const name = parseTokenWithParams(text)?.token.toLowerCase();
  const event = EVENT_PACKAGES.find((known) => known === name);
  return event === undefined ? undefined : { event, text };
}

/** Requested duration in seconds; 0 requests one NOTIFY or unsubscribes (RFC 6665 §4.4.3). */
export function requestedSeconds(
  request: SipRequest,
):
  | { readonly kind: 'ok'; readonly seconds: number }
  | { readonly kind: 'tooBrief'; readonly least: number } {
  const requested = request.expires ?? DEFAULT_S;
  if (requested > 0 && requested < LEAST_S) return { kind: 'tooBrief', least: LEAST_S };
  return { kind: 'ok', seconds: Math.min(requested, MOST_S) };
}

/** Returns whether the subscriber accepts the body type of the package. */
export function acceptsBody(request: SipRequest, event: EventPackage): boolean {
  if (request.header('accept') === undefined) return true;
  return request
    .list('accept')
    .map((range) => range.split(';')[0]?.trim().toLowerCase())
    .some((type) => type === CONTENT_TYPES[event] || type === '*/*' || type === 'application/*');
}
