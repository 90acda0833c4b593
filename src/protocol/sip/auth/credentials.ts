import { type DigestAlgorithm, digestAlgorithm } from './digest.ts';

/** Parameters of a challenge or of credentials: names in lower case, values unquoted. */
export type AuthParams = ReadonlyMap<string, string>;

/** Parsed Digest `Authorization` (RFC 7616 §3.4). */
export interface DigestCredentials {
  readonly username: string;
  readonly realm: string;
  readonly nonce: string;
  readonly uri: string;
  readonly response: string;
  readonly algorithm: DigestAlgorithm;
  /** Undefined for a client of RFC 2069. */
  readonly protection:
    | { readonly qop: string; readonly nonceCount: string; readonly cnonce: string }
    | undefined;
}

const NONCE_COUNT = /^[0-9a-fA-F]{8}$/;
const MAX_USERNAME_LENGTH = 256;

/** Returns undefined if a required parameter is missing or was not offered. */
export function readDigestCredentials(params: AuthParams): DigestCredentials | undefined {
  const username = params.get('username');
  const realm = params.get('realm');
  const nonce = params.get('nonce');
  const uri = params.get('uri');
  const response = params.get('response');
  const algorithm = digestAlgorithm(params.get('algorithm'));
  if (
    username === undefined ||
    username.length > MAX_USERNAME_LENGTH ||
    realm === undefined ||
    nonce === undefined ||
    uri === undefined ||
    response === undefined ||
    algorithm === undefined
  ) {
    return undefined;
  }
  const qop = params.get('qop');
  if (qop === undefined) {
    return { username, realm, nonce, uri, response, algorithm, protection: undefined };
  }
  const nonceCount = params.get('nc');
  const cnonce = params.get('cnonce');
  if (qop.toLowerCase() !== 'auth' || nonceCount === undefined || cnonce === undefined) {
    return undefined;
  }
  if (!NONCE_COUNT.test(nonceCount)) return undefined;
  const protection = { qop, nonceCount, cnonce };
  return { username, realm, nonce, uri, response, algorithm, protection };
}
