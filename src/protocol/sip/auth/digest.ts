import { type DigestHash, hashHex } from '../../../base/hash.ts';

/** Digest algorithms of RFC 7616 §6.1 and RFC 8760 §2.2 by their names on the wire, strongest first. */
export const DIGEST_ALGORITHMS = ['SHA-512-256', 'SHA-256', 'MD5'] as const;
export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];

const HASHES: Readonly<Record<DigestAlgorithm, DigestHash>> = {
  'SHA-512-256': 'sha512-256',
  'SHA-256': 'sha256',
  MD5: 'md5',
};

/** Algorithm of a challenge or of credentials; no name means MD5 (RFC 7616 §3.3). */
export function digestAlgorithm(name: string | undefined): DigestAlgorithm | undefined {
  if (name === undefined) return 'MD5';
  const wanted = name.toUpperCase();
  return DIGEST_ALGORITHMS.find((algorithm) => algorithm === wanted);
}

/** HA1 = H(username ":" realm ":" password), RFC 7616 §3.4.2. */
export const ha1Of = (
  algorithm: DigestAlgorithm,
  username: string,
  realm: string,
  password: string,
): string => hashHex(HASHES[algorithm], `${username}:${realm}:${password}`);

/** Input of a digest response, without the secret. */
export interface DigestInput {
  readonly algorithm: DigestAlgorithm;
  readonly ha1: string;
  readonly method: string;
  /** Digest-uri exactly as in the credentials. */
  readonly uri: string;
  readonly nonce: string;
  /** Undefined for RFC 2069, which has no nonce count and cnonce. */
  readonly protection:
    | { readonly qop: string; readonly nonceCount: string; readonly cnonce: string }
    | undefined;
}

/** Request-digest of RFC 7616 §3.4.1, or of RFC 2069 for a peer without qop. */
export function digestResponse(input: DigestInput): string {
  const hash = HASHES[input.algorithm];
  const ha2 = hashHex(hash, `${input.method}:${input.uri}`);
  const { protection } = input;
  const middle =
    protection === undefined
      ? input.nonce
      : `${input.nonce}:${protection.nonceCount}:${protection.cnonce}:${protection.qop}`;
  return hashHex(hash, `${input.ha1}:${middle}:${ha2}`);
}
