import { ownCopy } from '../../../base/text.ts';
import type { NameAddr } from '../header/name-addr.ts';
import { parseDecimal, unquote } from '../header/text.ts';
import { parseDeltaSeconds } from '../header/values.ts';
import type { SipRequest } from '../message.ts';
import { type Flow, peerOf } from '../transport/flow.ts';
import { formatUri, parseUri, type SipUri, unescapeUser } from '../uri.ts';
import type { ContactBinding } from './binding.ts';
import { flowKeyOf, type RegisterContact, type RegisterRequest } from './register.ts';

/** Maximum number of contacts read from one request. */
const MAX_CONTACTS = 20;
/**
 * Maximum length of a contact and of its instance, in bytes. All stores can index this length (PostgreSQL limits an
 * index row to 2,704 bytes).
 */
const MAX_CONTACT_BYTES = 2048;
const MAX_REG_ID = 2 ** 31 - 1;

/**
 * Converts a REGISTER to the registrar's types, or undefined if a Contact is unusable (400). The result keeps no
 * reference to the message.
 */
export function readRegister(
  request: SipRequest,
  username: string,
  flow: Flow,
): RegisterRequest | undefined {
  const { contacts } = request;
  if (contacts === undefined || contacts.length > MAX_CONTACTS) return undefined;
  const read = contacts === '*' ? contacts : contacts.map(contactOf);
  if (read !== '*' && read.some((contact) => contact === undefined)) return undefined;
  return {
    username: ownCopy(username),
    contacts: read === '*' ? read : read.filter((contact) => contact !== undefined),
    expires: request.expires,
    callId: ownCopy(request.callId),
    cseq: request.cseq.sequence,
    userAgent: ownCopy(request.header('user-agent') ?? ''),
    flow: bindingFlow(flow),
    path: pathOf(request),
  };
}

const NO_PATH: readonly string[] = [];

function pathOf(request: SipRequest): readonly string[] {
  const path = request.list('path');
  return path.length === 0 ? NO_PATH : path.map(ownCopy);
}

/**
 * Flow of the binding. Behind an edge proxy: the phone's transport and the proxy's address, because the connection is
 * the proxy's.
 */
const bindingFlow = (flow: Flow): ContactBinding['flow'] => {
  const isOwn = flow.behind === undefined && flow.connectionId !== undefined;
  return {
    transport: peerOf(flow).transport,
    address: flow.remoteAddress,
    port: flow.remotePort,
    connectionId: isOwn ? String(flow.connectionId) : undefined,
  };
};

const isTooLong = (text: string): boolean => Buffer.byteLength(text) > MAX_CONTACT_BYTES;

function contactOf(address: NameAddr): RegisterContact | undefined {
  const { uri, params } = address;
  if (uri.kind !== 'sip') return undefined;
  const instance = params.get('+sip.instance');
  const expires = params.get('expires');
  const q = Number(params.get('q') ?? '1');
  const instanceId = instance === undefined ? undefined : ownCopy(unquote(instance));
  const contact = formatUri({ ...uri, headers: '' });
  if (isTooLong(contact) || isTooLong(instanceId ?? '')) return undefined;
  // reg-id has no meaning without an instance (RFC 5626 §6).
  const regId = instanceId === undefined ? undefined : regIdOf(params.get('reg-id'));
  return {
    uri: ownCopy(contact),
    key:
      instanceId === undefined || regId === undefined ? keyOf(uri) : flowKeyOf(instanceId, regId),
    // A malformed value counts as absent, like a malformed Expires (RFC 3261 §10.2.1.1).
    expires: expires === undefined ? undefined : parseDeltaSeconds(unquote(expires)),
    q: q >= 0 && q <= 1 ? q : 1,
    instanceId,
    regId,
  };
}

/** Value in 1 to 2^31 - 1 (RFC 5626 §4.2). */
function regIdOf(text: string | undefined): number | undefined {
  const regId = text === undefined ? undefined : parseDecimal(text, MAX_REG_ID);
  return regId === 0 ? undefined : regId;
}

/** Canonical text for all spellings of the same contact address (RFC 3261 §19.1.4). */
export function contactKey(uriText: string): string {
  const uri = parseUri(uriText);
  return uri?.kind === 'sip' ? keyOf(uri) : uriText;
}

function keyOf(uri: SipUri): string {
  const scheme = uri.secure ? 'sips' : 'sip';
  const transport = uri.params.get('transport')?.toLowerCase() ?? '';
  return `${scheme}:${unescapeUser(uri.user)}@${uri.host.toLowerCase()}:${uri.port ?? ''};${transport}`;
}
