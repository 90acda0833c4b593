/** Identity header fields and their PASSporTs (RFC 8224 §4, RFC 8225). */
import { err, ok, type Result } from '../../base/result.ts';

/** Why an Identity is not a valid proof, with the corresponding status (RFC 8224 §6.2.2). */
export interface ProofFault {
  readonly status: 403 | 428 | 436 | 437 | 438;
  readonly why: string;
  /** Reason phrase. Default: the registered phrase of the status. */
  readonly phrase?: string;
}

export const invalid = (why: string): Result<never, ProofFault> => err({ status: 438, why });

/** Unverified claims of a token. */
export interface Passport {
  /** The signed token with its three parts. */
  readonly token: string;
  readonly x5u: string;
  /** Issue time, seconds since the epoch. */
  readonly iat: number;
  readonly orig: Identities;
  readonly dest: Identities;
  readonly attest: '' | 'A' | 'B' | 'C';
}

/** Numbers as digits, and URIs (RFC 8225 §5.2.1). */
export interface Identities {
  readonly tn: readonly string[];
  readonly uri: readonly string[];
}

const LONGEST = 8192;
const MOST_CALLED = 100;
const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Supported extension. Tokens with other extensions are ignored (RFC 8224 §6.2.1). */
const SHAKEN = 'shaken';

/** The compact form omits header and payload, which the verifier builds from the message (RFC 8225 §7). */
const COMPACT = /^\.\.[A-Za-z0-9_-]+$/;

export interface IdentityField {
  readonly token: string;
  readonly info: string;
  readonly alg: string | undefined;
  readonly ppt: string | undefined;
}

/** Parses an Identity value. Returns undefined if it is malformed. */
export function readIdentity(value: string): IdentityField | undefined {
  if (value.length > LONGEST) return undefined;
  const end = value.indexOf(';');
  const token = (end === -1 ? value : value.slice(0, end)).trim();
  const rest = end === -1 ? '' : value.slice(end);
  const parameter = (name: string): string | undefined => {
    const found = new RegExp(`;\\s*${name}\\s*=\\s*("[^"]*"|<[^>]*>|[^;\\s]+)`, 'i').exec(
      rest,
    )?.[1];
    return found?.replaceAll(/^["<]|[">]$/g, '');
  };
  const info = parameter('info');
  if (info === undefined || !(TOKEN.test(token) || COMPACT.test(token))) return undefined;
  return { token, info, alg: parameter('alg'), ppt: parameter('ppt')?.toLowerCase() };
}

/** Whether the PASSporT's extension is supported. */
export const isUnderstood = ({ ppt }: IdentityField): boolean =>
  ppt === undefined || ppt === SHAKEN;

/** Claims that the compact form takes from the message: caller, callee and date (seconds). */
export interface OfMessage {
  readonly orig: string;
  readonly dest: string;
  readonly dateS: number | undefined;
}

/** Parses the claims of a token. Does not verify its signature. */
export function readPassport(
  field: IdentityField,
  message: OfMessage,
): Result<Passport, ProofFault> {
  const { info, alg, ppt } = field;
  const token = COMPACT.test(field.token) ? wholeToken(field, message) : field.token;
  if (token === undefined) return invalid('the compact form needs a Date and permits no extension');
  const [header, payload] = token.split('.').slice(0, 2).map(objectIn);
  if (header === undefined || payload === undefined) return invalid('the token cannot be parsed');
  if (header['alg'] !== 'ES256' || (alg !== undefined && alg !== 'ES256'))
    return invalid('the algorithm is not ES256');
  if ((header['ppt'] ?? undefined) !== ppt) return invalid('ppt differs from that of the token');
  if (header['typ'] !== undefined && header['typ'] !== 'passport')
    return invalid('typ is not passport');
  const { x5u } = header;
  if (typeof x5u !== 'string' || x5u !== info) return invalid('info differs from x5u of the token');
  const { iat, attest = '' } = payload;
  const [orig, dest] = [identitiesIn(payload['orig']), identitiesIn(payload['dest'])];
  if (typeof iat !== 'number' || !Number.isSafeInteger(iat)) return invalid('iat is missing');
  if (orig === undefined || dest === undefined) return invalid('orig or dest is missing');
  const isShaken = ppt === SHAKEN;
  if (isShaken && attest !== 'A' && attest !== 'B' && attest !== 'C')
    return invalid('attest is missing');
  return ok({
    token,
    x5u,
    iat,
    orig,
    dest,
    attest: isShaken ? (attest as Passport['attest']) : '',
  });
}

/** Builds the full token with sorted names and without whitespace, as signers do (RFC 8225 §9). */
function wholeToken(
  { token, info, ppt }: IdentityField,
  { orig, dest, dateS: iat }: OfMessage,
): string | undefined {
  if (ppt !== undefined || iat === undefined) return undefined;
  const [from, to] = [plainTn(orig), plainTn(dest)];
  const header = { alg: 'ES256', typ: 'passport', x5u: info };
  const payload = { dest: { tn: [to] }, iat, orig: { tn: from } };
  const parts = [header, payload].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${parts.join('.')}.${token.slice('..'.length)}`;
}

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Parses one string or a list of strings per kind. */
function identitiesIn(value: unknown): Identities | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { tn, uri } = value as Record<string, unknown>;
  const [numbers, uris] = [textsIn(tn), textsIn(uri)];
  if (numbers.length + uris.length === 0) return undefined;
  return { tn: numbers.map(plainTn), uri: uris };
}

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value])
    .filter((text): text is string => typeof text === 'string' && text !== '')
    .slice(0, MOST_CALLED);

/** Canonical number without `+` and separators (RFC 8224 §8.3). */
export const plainTn = (text: string): string => text.replaceAll(/[^0-9*#]/g, '');
