/** Entry point: signs and verifies caller identities (STIR/SHAKEN). Loaded only if configured. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallerProofs } from '../../domain/call/needs.ts';
import type { FetchCertificate } from './certificates.ts';
import { createSigner } from './signer.ts';
import { Verifier } from './verifier.ts';

export interface StirOptions {
  /** PEM file of trusted authorities; if empty, no call is verified. */
  readonly anchorsFile: string;
  readonly freshnessS: number;
  /** PEM file of a P-256 key, and the URL of its certificate; if empty, no call is signed. */
  readonly keyFile: string;
  readonly certificateUrl: string;
  readonly fetch: FetchCertificate;
  readonly wallMs: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export interface ReloadableProofs extends CallerProofs {
  /** Reads the files again. Logs invalid files and keeps the previous ones. */
  reload(): void;
}

/** Throws ServiceError CONFIG_INVALID if a file cannot be used. */
export function createCallerProofs(options: StirOptions): ReloadableProofs {
  const { anchorsFile, keyFile, logger } = options;
  let read = readFiles(options);
  return {
    ...(anchorsFile === '' ? {} : { verify: (claim) => read.verify(claim) }),
    ...(keyFile === '' ? {} : { sign: (statement) => read.sign(statement) }),
    reload: () => {
      try {
        read = readFiles(options);
        logger.info({ anchorsFile, keyFile }, 'STIR files reloaded');
      } catch (error) {
        logger.warn({ error }, 'could not reload STIR files');
      }
    },
  };
}

function readFiles(options: StirOptions): Required<CallerProofs> {
  const { anchorsFile, keyFile, certificateUrl, freshnessS, wallMs, fetch } = options;
  const anchors = anchorsFile === '' ? [] : usable(anchorsFile, anchorsIn);
  const verifier = new Verifier({ anchors, freshnessS, wallMs, fetch });
  const nothing = (): Promise<string> => Promise.reject(new Error('no signing key is configured'));
  const sign =
    keyFile === ''
      ? nothing
      : usable(keyFile, (key) => createSigner({ key, certificateUrl, wallMs }));
  return { verify: (claim) => verifier.verify(claim), sign };
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
  if (anchors.length === 0) throw new Error('the file contains no certificate');
  return anchors;
}
