import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:https';
import { ServiceError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/logger.ts';

/** Interval between two checks for a renewed certificate, milliseconds. */
const CHECK_EVERY_MS = 5000;

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export function readCertificate(files: CertificateFiles): {
  readonly cert: Buffer;
  readonly key: Buffer;
} {
  try {
    return { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) };
  } catch (cause) {
    throw new ServiceError(
      'CONFIG_INVALID',
      `cannot read the TLS certificate ${files.certFile} or key ${files.keyFile}`,
      { cause },
    );
  }
}

export interface WatchedCertificate {
  /** Reloads the certificate immediately. */
  reload(): void;
  close(): void;
}

/** Uses a changed certificate for new connections. An invalid one is logged and the previous one stays in use. */
export function watchCertificate(
  server: Server,
  files: CertificateFiles,
  logger: Logger,
): WatchedCertificate {
  const reload = (): void => {
    try {
      server.setSecureContext(readCertificate(files));
      logger.info({ certFile: files.certFile }, 'certificate reloaded');
    } catch (error) {
      logger.warn({ certFile: files.certFile, error }, 'certificate not reloaded');
    }
  };
  const watched = [files.certFile, files.keyFile];
  for (const file of watched)
    watchFile(file, { interval: CHECK_EVERY_MS, persistent: false }, reload);
  return {
    reload,
    close() {
      for (const file of watched) unwatchFile(file, reload);
    },
  };
}
