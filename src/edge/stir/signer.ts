/** Signs caller numbers as an authentication service (RFC 8224 §6.1, RFC 8588). */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { hashHex } from '../../base/hash.ts';
import type { CallerStatement } from '../../domain/call/needs.ts';

export interface SignerNeeds {
  /** PEM of a P-256 key. */
  readonly key: string;
  /** Public URL of its certificate. */
  readonly certificateUrl: string;
  readonly wallMs: () => number;
}

const MS_PER_SECOND = 1000;

/** Creates a signer. Throws if the key is not a P-256 key. */
export function createSigner(needs: SignerNeeds): (statement: CallerStatement) => Promise<string> {
  const key = p256(needs.key);
  const { certificateUrl: x5u } = needs;
  return async ({ orig, dest, attestation, account }) => {
    // Sorted names without whitespace (RFC 8225 §9).
    const payload = JSON.stringify({
      attest: attestation,
      dest: { tn: [dest] },
      iat: Math.floor(needs.wallMs() / MS_PER_SECOND),
      orig: { tn: orig },
      origid: originOf(account),
    });
    const token = await new CompactSign(Buffer.from(payload))
      .setProtectedHeader({ alg: 'ES256', ppt: 'shaken', typ: 'passport', x5u })
      .sign(key);
    return `${token};info=<${x5u}>;alg=ES256;ppt=shaken`;
  };
}

function p256(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('not a P-256 key');
  return key;
}

/** Opaque UUID of an account, which does not reveal its identity (RFC 8588 §5). */
function originOf(account: string): string {
  const hex = hashHex('sha256', `origid ${account}`);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
