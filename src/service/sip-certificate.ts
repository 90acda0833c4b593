import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../base/logger.ts';
import { writeSecret } from './data-folder.ts';

export interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 825;
/** Remaining validity in days below which a certificate is renewed. */
const RENEW_DAYS = 30;

/**
 * Returns a self-signed certificate for trials, which phones must be configured to accept. Creates it at the first
 * start, and again when it nears expiry, is not valid yet, does not fit its key, or does not name a host.
 */
export async function trialCertificate(
  dataDir: string,
  hosts: readonly string[],
  {
    name,
    nowMs,
    logger,
  }: { readonly name: string; readonly nowMs: number; readonly logger: Logger },
): Promise<CertificatePaths> {
  const file = (end: string): string => join(dataDir, 'keys', `${name}.${end}`);
  const paths = { certFile: file('crt'), keyFile: file('key') };
  const names = [...new Set([...hosts, 'localhost', '127.0.0.1', '::1', hostname()])];
  if (isGood(paths, hosts, nowMs)) return paths;
  // Loaded only here, because other starts do not need it.
  const { generate } = await import('selfsigned');
  const [commonName = 'localhost'] = names;
  const made = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - DAY_MS),
    notAfterDate: new Date(nowMs + VALID_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) =>
          isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name },
        ),
      },
    ],
  });
  writeSecret(paths.keyFile, made.private);
  writeSecret(paths.certFile, made.cert);
  logger.info({ certFile: paths.certFile, names }, 'certificate created');
  return paths;
}

function isGood({ certFile, keyFile }: CertificatePaths, hosts: readonly string[], nowMs: number) {
  if (!existsSync(certFile) || !existsSync(keyFile)) return false;
  try {
    const certificate = new X509Certificate(readFileSync(certFile));
    // A start between the two writes of a renewal, or a damaged file.
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) return false;
    // The clock was ahead when the certificate was created.
    if (Date.parse(certificate.validFrom) > nowMs) return false;
    const names = hosts.every((host) =>
      isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host),
    );
    return names && Date.parse(certificate.validTo) - nowMs > RENEW_DAYS * DAY_MS;
  } catch {
    return false;
  }
}
