/** Front door: who calls, proved and checked (STIR/SHAKEN). Loaded where it is configured. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ServiceError } from '../../base/errors.ts';
import type { CallerProofs } from '../../domain/call/needs.ts';
import type { FetchCertificate } from './certificates.ts';
import { createSigner } from './signer.ts';
import { Verifier } from './verifier.ts';

export interface StirOptions {
  /** PEM of authorities; empty: nothing is verified. */
  readonly anchorsFile: string;
  readonly freshnessS: number;
  /** PEM of a P-256 key, and where its certificate is; empty: nothing is signed. */
  readonly keyFile: string;
  readonly certificateUrl: string;
  readonly fetch: FetchCertificate;
  readonly wallMs: () => number;
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Throws ServiceError CONFIG_INVALID where a file cannot be used. */
export function createCallerProofs(options: StirOptions): CallerProofs {
  const { anchorsFile, keyFile, certificateUrl, freshnessS, wallMs } = options;
  const anchors = anchorsFile === '' ? [] : usable(anchorsFile, anchorsIn);
  const verifier =
    anchors.length === 0
      ? undefined
      : new Verifier({ anchors, freshnessS, wallMs, fetch: options.fetch });
  const sign =
    keyFile === ''
      ? undefined
      : usable(keyFile, (key) => createSigner({ key, certificateUrl, wallMs }));
  return {
    ...(verifier === undefined ? {} : { verify: (claim) => verifier.verify(claim) }),
    ...(sign === undefined ? {} : { sign }),
  };
}

function usable<T>(file: string, read: (text: string) => T): T {
  try {
    return read(readFileSync(file, 'utf8'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('CONFIG_INVALID', `stir: ${file} cannot be used: ${why}`, { cause });
  }
}

function anchorsIn(text: string): readonly X509Certificate[] {
  const anchors = (text.match(PEM) ?? []).map((block) => new X509Certificate(block));
  if (anchors.length === 0) throw new Error('it holds no certificate');
  return anchors;
}
