/** STUN Binding requests on the SIP port: keep-alives of phones over UDP (RFC 5626 §8, RFC 8489). */
import { crc32 } from 'node:zlib';

const HEADER_BYTES = 20;
const MAGIC_COOKIE = 0x2112a442;
const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;
const BINDING_ERROR = 0x0111;

const ERROR_CODE = 0x0009;
const UNKNOWN_ATTRIBUTES = 0x000a;
const XOR_MAPPED_ADDRESS = 0x0020;
const FINGERPRINT = 0x8028;
const FINGERPRINT_BYTES = 8;
const FINGERPRINT_XOR = 0x5354554e;

/** First type of optional attributes; all lower types must be understood (RFC 8489 §14). */
const FIRST_OPTIONAL = 0x8000;
/** RFC 8489 attributes that need no action here, because keep-alives carry no authentication (RFC 5626 §8). */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  ...[0x0001, 0x0006, 0x0008, 0x0009, 0x000a, 0x0014, 0x0015, 0x001c, 0x001d, 0x001e, 0x0020],
]);
/** "Unknown Attribute" (RFC 8489 §14.8). */
const UNKNOWN_ATTRIBUTE = { class: 4, number: 20, reason: 'Unknown Attribute' } as const;
const MAX_UNKNOWN = 16;

/** Returns true for STUN: two zero bits and the magic cookie, which no SIP message begins with. */
export function isStun(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES || ((bytes[0] ?? 0) & 0xc0) !== 0) return false;
  return view(bytes).getUint32(4) === MAGIC_COOKIE;
}

/** Address and port that a request came from. */
export interface StunSource {
  readonly address: string;
  readonly port: number;
}

/** Returns the response to a Binding request; undefined for malformed messages, indications and responses. */
export function answerBinding(bytes: Uint8Array, source: StunSource): Uint8Array | undefined {
  const data = view(bytes);
  const length = bytes.length - HEADER_BYTES;
  const isRequest = isStun(bytes) && data.getUint16(0) === BINDING_REQUEST;
  if (!isRequest || length % 4 !== 0 || data.getUint16(2) !== length) return undefined;
  const attributes = attributesOf(data);
  if (attributes === undefined || !isFingerprintRight(bytes, attributes)) return undefined;
  const unknown = [...attributes.keys()].filter(
    (type) => type < FIRST_OPTIONAL && !UNDERSTOOD.has(type),
  );
  const isMarked = attributes.has(FINGERPRINT);
  if (unknown.length > 0) {
    const error = [errorAttribute(), unknownAttribute(unknown.slice(0, MAX_UNKNOWN))];
    return response(bytes, { type: BINDING_ERROR, attributes: error, isMarked });
  }
  const mapped = mappedAttribute(bytes, source);
  if (mapped === undefined) return undefined;
  return response(bytes, { type: BINDING_SUCCESS, attributes: [mapped], isMarked });
}

const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Offset of each attribute by type; undefined if an attribute runs past the end of the message. */
function attributesOf(data: DataView): ReadonlyMap<number, number> | undefined {
  const found = new Map<number, number>();
  let at = HEADER_BYTES;
  while (at < data.byteLength) {
    const type = data.getUint16(at);
    const next = at + 4 + padded(data.getUint16(at + 2));
    if (next > data.byteLength) return undefined;
    if (!found.has(type)) found.set(type, at);
    at = next;
  }
  return found;
}

/** A fingerprint is the last attribute and covers all bytes before it (RFC 8489 §14.7). */
function isFingerprintRight(bytes: Uint8Array, attributes: ReadonlyMap<number, number>): boolean {
  const at = attributes.get(FINGERPRINT);
  if (at === undefined) return true;
  if (at !== bytes.length - FINGERPRINT_BYTES) return false;
  return view(bytes).getUint32(at + 4) === fingerprintOf(bytes.subarray(0, at));
}

const fingerprintOf = (bytes: Uint8Array): number => (crc32(bytes) ^ FINGERPRINT_XOR) >>> 0;

function response(
  request: Uint8Array,
  {
    type,
    attributes,
    isMarked,
  }: { readonly type: number; readonly attributes: readonly Uint8Array[]; isMarked: boolean },
): Uint8Array {
  const body = attributes.reduce((sum, { length }) => sum + length, 0);
  const end = HEADER_BYTES + body;
  const bytes = new Uint8Array(end + (isMarked ? FINGERPRINT_BYTES : 0));
  const data = view(bytes);
  bytes.set(request.subarray(0, HEADER_BYTES));
  data.setUint16(0, type);
  data.setUint16(2, bytes.length - HEADER_BYTES);
  let at = HEADER_BYTES;
  for (const attribute of attributes) {
    bytes.set(attribute, at);
    at += attribute.length;
  }
  if (isMarked) {
    data.setUint16(end, FINGERPRINT);
    data.setUint16(end + 2, 4);
    data.setUint32(end + 4, fingerprintOf(bytes.subarray(0, end)));
  }
  return bytes;
}

/** XOR-MAPPED-ADDRESS (RFC 8489 §14.2); undefined if the address cannot be read. */
function mappedAttribute(
  request: Uint8Array,
  { address, port }: StunSource,
): Uint8Array | undefined {
  const ip = address.includes(':') ? ipv6Bytes(address) : ipv4Bytes(address);
  if (ip === undefined) return undefined;
  const bytes = attribute(XOR_MAPPED_ADDRESS, 4 + ip.length);
  const data = view(bytes);
  bytes[5] = ip.length === 4 ? 1 : 2;
  data.setUint16(6, port ^ (MAGIC_COOKIE >>> 16));
  // Bytes 4 to 19 of the header are the magic cookie and the transaction ID.
  for (const [at, byte] of ip.entries()) bytes[8 + at] = byte ^ (request[4 + at] ?? 0);
  return bytes;
}

function ipv4Bytes(address: string): readonly number[] | undefined {
  const parts = address.split('.').map(Number);
  const isRight = parts.length === 4 && parts.every((part) => part >= 0 && part <= 255);
  return isRight ? parts : undefined;
}

/** Reads an IPv6 address as the operating system writes it: lower case, `::` at most once, an optional zone. */
function ipv6Bytes(address: string): readonly number[] | undefined {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const zeros = 8 - before.length - after.length;
  if (zeros < 0 || (tail === undefined && zeros > 0)) return undefined;
  const groups = [...before, ...new Array<number>(zeros).fill(0), ...after];
  if (groups.some((group) => Number.isNaN(group))) return undefined;
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
}

/** Groups of 16 bits; a dotted IPv4 part counts as two. */
const groupsOf = (text: string): readonly number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((part) => {
        const [a = 0, b = 0, c = 0, d = 0] = part.includes('.') ? (ipv4Bytes(part) ?? []) : [];
        return part.includes('.') ? [(a << 8) | b, (c << 8) | d] : [Number.parseInt(part, 16)];
      });

function errorAttribute(): Uint8Array {
  const reason = new TextEncoder().encode(UNKNOWN_ATTRIBUTE.reason);
  const bytes = attribute(ERROR_CODE, 4 + reason.length);
  bytes[6] = UNKNOWN_ATTRIBUTE.class;
  bytes[7] = UNKNOWN_ATTRIBUTE.number;
  bytes.set(reason, 8);
  return bytes;
}

function unknownAttribute(types: readonly number[]): Uint8Array {
  const bytes = attribute(UNKNOWN_ATTRIBUTES, 2 * types.length);
  for (const [index, type] of types.entries()) view(bytes).setUint16(4 + 2 * index, type);
  return bytes;
}

/** An attribute with room for `length` bytes of value, padded with zeros. */
function attribute(type: number, length: number): Uint8Array {
  const bytes = new Uint8Array(4 + padded(length));
  view(bytes).setUint16(0, type);
  view(bytes).setUint16(2, length);
  return bytes;
}

const padded = (length: number): number => (length + 3) & ~3;
