/** Parses the JSON Web Token of a browser phone (RFC 7519) in the format of Plivo's libraries: HS256, `cty: plivo;v=1`. */
import { hmacSha256, secretsEqual } from '../../base/hash.ts';
import { type AccountId, asAccountId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';

/** Maximum token length in characters. */
const MAX_LENGTH = 4096;
const MAX_NAME = 200;
const CONTENT_TYPE = 'plivo;v=1';

export interface AccessToken {
  readonly accountId: AccountId;
  readonly username: string;
  readonly jti: string;
  /** Start of validity, seconds since the epoch. */
  readonly notBefore: number;
  readonly expires: number;
  readonly incoming: boolean;
  readonly outgoing: boolean;
  /** Signed text, and its signature. */
  readonly signed: string;
  readonly signature: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Parses a token without verifying its signature. The refusal is a plain sentence. */
export function readAccessToken(text: string): Result<AccessToken, string> {
  const [head = '', body = '', signature = '', ...more] = text.split('.');
  const [header, claims] = [fieldsOf(head), fieldsOf(body)];
  if (text.length > MAX_LENGTH || more.length > 0 || header === undefined || claims === undefined) {
    return err('is not a JSON Web Token');
  }
  // The algorithm is fixed. Trusting the token's own `alg` would accept `none` and public keys (RFC 8725 §3.1).
  if (header['alg'] !== 'HS256') return err('must be signed with HS256');
  const type = header['cty'];
  if (type !== undefined && type !== CONTENT_TYPE)
    return err(`must be of the type ${CONTENT_TYPE}`);
  const { iss, sub, jti, nbf = 0, exp } = claims;
  if (!isName(iss)) return err('must name an account in iss');
  if (!isName(sub)) return err('must name an endpoint in sub');
  if (!isName(jti)) return err('must have an id in jti');
  if (!isMoment(exp) || !isMoment(nbf)) return err('must have an expiry time in exp');
  const voice = fieldOf(fieldOf(claims, 'grants'), 'voice');
  return ok({
    accountId: asAccountId(iss),
    username: sub,
    jti,
    notBefore: nbf,
    expires: exp,
    incoming: voice?.['incoming_allow'] === true,
    outgoing: voice?.['outgoing_allow'] === true,
    signed: `${head}.${body}`,
    signature,
  });
}

export const isSignedWith = ({ signed, signature }: AccessToken, key: string): boolean =>
  secretsEqual(hmacSha256(key, signed).toString('base64url'), signature);

function fieldsOf(part: string): Fields | undefined {
  try {
    return objectOf(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  } catch {
    return undefined;
  }
}

const objectOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;

const fieldOf = (fields: Fields | undefined, name: string): Fields | undefined =>
  objectOf(fields?.[name]);

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_NAME;

const isMoment = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(Math.floor(value)) && value >= 0;
