/** Source of cryptographically random bytes, or of a seeded stream in tests. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** Returns a uniformly distributed integer in [0, below). */
  integer(below: number): number;
}

declare const brand: unique symbol;
/** A string or number with a type tag, so that one kind of ID is not accepted as another. */
export type Branded<Base, Kind extends string> = Base & { readonly [brand]: Kind };

/** ID of a main account (`MA_…`) or a sub-account (`SA_…`). */
export type AccountId = Branded<string, 'account'>;
export type CallUuid = Branded<string, 'call'>;
/** ID of a request for calls. The request for a single call has the ID of that call. */
export type RequestUuid = Branded<string, 'request'>;
export type RecordingId = Branded<string, 'recording'>;
/** A decimal number in paths and responses. */
export type AppId = Branded<number, 'application'>;
export type EndpointId = Branded<string, 'endpoint'>;
export type TrunkId = Branded<string, 'trunk'>;
/** ID of a leg within one SIP user agent. Never reused. */
export type LegId = Branded<number, 'leg'>;
export type StreamId = Branded<string, 'stream'>;
export type CampaignId = Branded<string, 'campaign'>;
/** ID of the agent to which a campaign connects its calls. */
export type AgentId = Branded<string, 'agent'>;

const HEX_DIGITS = '0123456789abcdef';
const DASH = 45;
/** Shared buffer in which texts are built, because appending character by character would allocate each time. */
const letters = Buffer.alloc(256);
const AUTH_ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Returns an RFC 4122 version 4 UUID (strict clients check version and variant bits). */
export const uuid = (random: Random): string => uuidOf(random.bytes(16));

/** Number of leading UUID bytes that contain the time. */
const TIME_BYTES = 6;

/**
 * Like `uuid`, but the first 48 bits are a time in milliseconds since 1970. Consecutive IDs are then adjacent in an
 * index and touch fewer pages. 74 random bits remain.
 */
export function uuidInOrder(random: Random, wallMs: number): string {
  const bytes = random.bytes(16);
  let rest = Math.floor(wallMs);
  for (let index = TIME_BYTES - 1; index >= 0; index -= 1) {
    bytes[index] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return uuidOf(bytes);
}

function uuidOf(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  let at = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) at = write(at, DASH);
    const byte = bytes[index] ?? 0;
    at = write(at, HEX_DIGITS.charCodeAt(byte >> 4));
    at = write(at, HEX_DIGITS.charCodeAt(byte & 0x0f));
  }
  return letters.toString('latin1', 0, at);
}

function write(at: number, letter: number): number {
  letters[at] = letter;
  return at + 1;
}

/** Returns a new account ID: `MA_` or `SA_` and 17 characters of [A-Z0-9], 20 characters in total (dialect §0.2 rule 7). */
export function newAccountId(random: Random, prefix: 'MA' | 'SA'): AccountId {
  return asAccountId(`${prefix}_${pick(random, AUTH_ID_ALPHABET, 17)}`);
}

// The only functions that convert external texts (path, row, header) to IDs.
export const asAccountId = (text: string): AccountId => text as AccountId;
export const asCallUuid = (text: string): CallUuid => text as CallUuid;
export const asRequestUuid = (text: string): RequestUuid => text as RequestUuid;
export const asRecordingId = (text: string): RecordingId => text as RecordingId;
export const asAppId = (number: number): AppId => number as AppId;
export const asEndpointId = (text: string): EndpointId => text as EndpointId;
export const asTrunkId = (text: string): TrunkId => text as TrunkId;
export const asLegId = (number: number): LegId => number as LegId;
export const asStreamId = (text: string): StreamId => text as StreamId;
export const asCampaignId = (text: string): CampaignId => text as CampaignId;
export const asAgentId = (text: string): AgentId => text as AgentId;

/** Returns a new call UUID. `wallMs` is the approximate start of the call. */
export const newCallUuid = (random: Random, wallMs: number): CallUuid =>
  asCallUuid(uuidInOrder(random, wallMs));
export const newRequestUuid = (random: Random): RequestUuid => asRequestUuid(uuid(random));
export const newRecordingId = (random: Random): RecordingId => asRecordingId(uuid(random));
export const newTrunkId = (random: Random): TrunkId => asTrunkId(uuid(random));
export const newStreamId = (random: Random): StreamId => asStreamId(uuid(random));
export const newCampaignId = (random: Random): CampaignId => asCampaignId(uuid(random));
export const newAgentId = (random: Random): AgentId => asAgentId(uuid(random));

/** Returns a URL-safe secret with `bits` of entropy. */
export function token(random: Random, bits = 256): string {
  return pick(
    random,
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
    Math.ceil(bits / 5.95),
  );
}

/** Returns `length` random decimal digits. The first is not zero. */
export function digits(random: Random, length: number): string {
  return pick(random, '123456789', 1) + pick(random, '0123456789', length - 1);
}

function pick(random: Random, alphabet: string, length: number): string {
  if (length > letters.length) throw new RangeError(`a text of ${length} letters`);
  for (let at = 0; at < length; at += 1)
    letters[at] = alphabet.charCodeAt(random.integer(alphabet.length));
  const text = letters.toString('latin1', 0, length);
  letters.fill(0, 0, length);
  return text;
}

export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);
