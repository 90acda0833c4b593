import type { Random } from '../../../base/ids.ts';
import { quote } from '../header/text.ts';
import type { AuthParams } from './credentials.ts';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithm,
  digestAlgorithm,
  digestResponse,
  ha1Of,
} from './digest.ts';

/** A challenge that this client can answer. */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** Algorithm as the server wrote it, or undefined if absent. */
  readonly algorithmName: string | undefined;
  readonly stale: boolean;
  /** False if the server supports only RFC 2069. */
  readonly qopAuth: boolean;
}

/** Challenge from the header parser: scheme in any case, and its parameters. */
export interface ParsedChallenge {
  readonly scheme: string;
  readonly params: AuthParams;
}

/** Selects the strongest supported challenge; unsupported ones are ignored (RFC 8760 §2.4). */
export function strongestChallenge(
  challenges: readonly ParsedChallenge[],
): DigestChallenge | undefined {
  const understood = challenges.map(understand).filter((challenge) => challenge !== undefined);
  const rank = (challenge: DigestChallenge): number =>
    DIGEST_ALGORITHMS.indexOf(challenge.algorithm);
  return understood.sort((a, b) => rank(a) - rank(b))[0];
}

function understand({ scheme, params }: ParsedChallenge): DigestChallenge | undefined {
  if (scheme.toLowerCase() !== 'digest') return undefined;
  const realm = params.get('realm');
  const nonce = params.get('nonce');
  const algorithmName = params.get('algorithm');
  const algorithm = digestAlgorithm(algorithmName);
  if (realm === undefined || nonce === undefined || algorithm === undefined) return undefined;
  const qop = params
    .get('qop')
    ?.toLowerCase()
    .split(',')
    .map((option) => option.trim());
  if (qop !== undefined && !qop.includes('auth')) return undefined;
  return {
    realm,
    nonce,
    opaque: params.get('opaque'),
    algorithm,
    algorithmName,
    stale: params.get('stale')?.toLowerCase() === 'true',
    qopAuth: qop !== undefined,
  };
}

/** Value of `Authorization` or `Proxy-Authorization` that answers a challenge (RFC 7616 §3.4). */
export function answerChallenge(
  challenge: DigestChallenge,
  account: { readonly username: string; readonly password: string },
  request: { readonly method: string; readonly uri: string },
  nonceCount: number,
  random: Random,
): string {
  const protection = challenge.qopAuth
    ? {
        qop: 'auth',
        nonceCount: nonceCount.toString(16).padStart(8, '0'),
        cnonce: Buffer.from(random.bytes(12)).toString('hex'),
      }
    : undefined;
  const response = digestResponse({
    algorithm: challenge.algorithm,
    ha1: ha1Of(challenge.algorithm, account.username, challenge.realm, account.password),
    method: request.method,
    uri: request.uri,
    nonce: challenge.nonce,
    protection,
  });
  const parts = [
    `username=${quote(account.username)}`,
    `realm=${quote(challenge.realm)}`,
    `nonce=${quote(challenge.nonce)}`,
    `uri=${quote(request.uri)}`,
    `response="${response}"`,
  ];
  if (challenge.algorithmName !== undefined) parts.push(`algorithm=${challenge.algorithmName}`);
  if (challenge.opaque !== undefined) parts.push(`opaque=${quote(challenge.opaque)}`);
  if (protection !== undefined) {
    parts.push(`qop=auth, nc=${protection.nonceCount}, cnonce="${protection.cnonce}"`);
  }
  return `Digest ${parts.join(', ')}`;
}
