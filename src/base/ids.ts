/** Cryptographically random bytes, or a seeded stream in tests. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** Uniform integer in [0, below). */
  integer(below: number): number;
}

declare const brand: unique symbol;
/** A string or number that says what it names: one kind is no argument for another. */
export type Branded<Base, Kind extends string> = Base & { readonly [brand]: Kind };

/** `MA_…` or `SA_…`: a main account or a sub-account. */
export type AccountId = Branded<string, 'account'>;
export type CallUuid = Branded<string, 'call'>;
/** Of a request for calls; that of a single call is named as its call. */
export type RequestUuid = Branded<string, 'request'>;
export type RecordingId = Branded<string, 'recording'>;
/** A decimal number in paths and answers. */
export type AppId = Branded<number, 'application'>;
export type EndpointId = Branded<string, 'endpoint'>;
export type TrunkId = Branded<string, 'trunk'>;
/** A leg of one SIP user agent; never reused. */
export type LegId = Branded<number, 'leg'>;
export type StreamId = Branded<string, 'stream'>;
export type CampaignId = Branded<string, 'campaign'>;
/** What a campaign's calls are connected to. */
export type AgentId = Branded<string, 'agent'>;

const HEX_DIGITS = '0123456789abcdef';
const DASH = 45;
/** Where texts are put together, one after the other: a text that grows letter by letter would be a new one each time. */
const letters = Buffer.alloc(256);
const AUTH_ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** RFC 4122 version 4 UUID (strict clients check version and variant bits). */
export const uuid = (random: Random): string => uuidOf(random.bytes(16));

/** Bytes of a UUID that are its time. */
const TIME_BYTES = 6;

/**
 * As `uuid`, but its first 48 bits are a time, milliseconds since 1970: those made one after the other stand side by side in an
 * index, where random ones change a page each, and there is another 74 bits that nobody guesses.
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

/** `MA_` or `SA_` and 17 of [A-Z0-9]: 20 characters (dialect §0.2 rule 7). */
export function newAccountId(random: Random, prefix: 'MA' | 'SA'): AccountId {
  return asAccountId(`${prefix}_${pick(random, AUTH_ID_ALPHABET, 17)}`);
}

// What names something outside (a path, a row, a header) becomes an identifier here and nowhere else.
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

/** `wallMs`: about when the call began. */
export const newCallUuid = (random: Random, wallMs: number): CallUuid =>
  asCallUuid(uuidInOrder(random, wallMs));
export const newRequestUuid = (random: Random): RequestUuid => asRequestUuid(uuid(random));
export const newRecordingId = (random: Random): RecordingId => asRecordingId(uuid(random));
export const newTrunkId = (random: Random): TrunkId => asTrunkId(uuid(random));
export const newStreamId = (random: Random): StreamId => asStreamId(uuid(random));
export const newCampaignId = (random: Random): CampaignId => asCampaignId(uuid(random));
export const newAgentId = (random: Random): AgentId => asAgentId(uuid(random));

/** URL-safe secret with `bits` of entropy. */
export function token(random: Random, bits = 256): string {
  return pick(
    random,
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
    Math.ceil(bits / 5.95),
  );
}

/** A string of `length` decimal digits, the first one not zero. */
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
