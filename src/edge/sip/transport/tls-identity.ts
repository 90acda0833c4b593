import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import {
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TlsOptions,
} from 'node:tls';
import { ServiceError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/logger.ts';

export interface TlsFiles {
  /** PEM: our certificate, then those between it and its authority. */
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM: authorities that are believed besides the public ones; of clients these alone. '': none. */
  readonly caFile: string;
}

export interface TlsPolicy {
  /** Whether clients show a certificate: never asked, asked and checked when shown, demanded. */
  readonly clients: 'no' | 'optional' | 'required';
  /** Certificates of servers may name `*.example.com` (against RFC 5922 §7.2). */
  readonly wildcards: boolean;
}

/** A renewed certificate is in use after so long at the latest. */
const CHECK_EVERY_MS = 5000;
const OLDEST_VERSION = 'TLSv1.2';

/** Our certificate, and whom we believe, as they stand in their files now. */
export class TlsIdentity {
  readonly policy: TlsPolicy;
  readonly #files: TlsFiles;
  readonly #logger: Logger;
  readonly #users: ((options: TlsOptions) => void)[] = [];
  #server: TlsOptions;
  #client: SecureContext;

  /** Throws CONFIG_INVALID when a file cannot be read, or is no certificate with its key. */
  constructor(files: TlsFiles, policy: TlsPolicy, logger: Logger) {
    this.#files = files;
    this.policy = policy;
    this.#logger = logger;
    try {
      ({ server: this.#server, client: this.#client } = this.#read());
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const { certFile, keyFile } = files;
      throw new ServiceError(
        'CONFIG_INVALID',
        `cannot use the SIP certificate ${certFile} with key ${keyFile}: ${why}`,
        { cause },
      );
    }
  }

  /** For servers. `renewed` gets them again when a file has changed. */
  serverOptions(renewed: (options: TlsOptions) => void): TlsOptions {
    this.#users.push(renewed);
    return this.#server;
  }

  /** For connections of ours. */
  get client(): SecureContext {
    return this.#client;
  }

  /** Takes changed files into use for new connections; broken ones are logged, and the old certificate stays. */
  reload(): void {
    const { certFile } = this.#files;
    try {
      const { server, client } = this.#read();
      this.#server = server;
      this.#client = client;
      for (const use of this.#users) use(server);
      this.#logger.info({ certFile }, 'SIP certificate reloaded');
    } catch (error) {
      this.#logger.warn({ certFile, error }, 'SIP certificate not reloaded');
    }
  }

  /** Looks at the files from now on. Returns what ends it. */
  watch(): () => void {
    const reload = (): void => this.reload();
    const { certFile, keyFile, caFile } = this.#files;
    const watched = [certFile, keyFile, caFile].filter((file) => file !== '');
    for (const file of watched) {
      watchFile(file, { interval: CHECK_EVERY_MS, persistent: false }, reload);
    }
    return () => {
      for (const file of watched) unwatchFile(file, reload);
    };
  }

  #read(): { readonly server: TlsOptions; readonly client: SecureContext } {
    const { certFile, keyFile, caFile } = this.#files;
    const cert = readFileSync(certFile);
    const key = readFileSync(keyFile);
    const ca = caFile === '' ? undefined : readFileSync(caFile, 'utf8');
    const { clients } = this.policy;
    const own = { cert, key, minVersion: OLDEST_VERSION } as const;
    const server = {
      ...own,
      // Public authorities vouch for anybody: only the operator's own say who a client is.
      ca: ca ?? [],
      requestCert: clients !== 'no',
      rejectUnauthorized: clients === 'required',
    };
    createSecureContext(server);
    const believed = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
    return { server, client: createSecureContext({ ...own, ...believed }) };
  }
}
