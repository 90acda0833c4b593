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
  /** PEM file with our certificate, followed by intermediate certificates. */
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM file with additional trusted authorities; for clients the only ones. Empty if unset. */
  readonly caFile: string;
}

export interface TlsPolicy {
  /** Client certificates: never requested, verified if presented, or required. */
  readonly clients: 'no' | 'optional' | 'required';
  /** True if certificates of servers may contain `*.example.com` (contrary to RFC 5922 §7.2). */
  readonly wildcards: boolean;
}

/** Interval in milliseconds for checking the files for a renewed certificate. */
const CHECK_EVERY_MS = 5000;
const OLDEST_VERSION = 'TLSv1.2';

/** Our certificate and trusted authorities, loaded from their files. */
export class TlsIdentity {
  readonly policy: TlsPolicy;
  readonly #files: TlsFiles;
  readonly #logger: Logger;
  readonly #users: ((options: TlsOptions) => void)[] = [];
  #server: TlsOptions;
  #client: SecureContext;

  /** Throws CONFIG_INVALID if a file cannot be read or if certificate and key do not match. */
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

  /** Options for servers. `renewed` receives new options when a file changes. */
  serverOptions(renewed: (options: TlsOptions) => void): TlsOptions {
    this.#users.push(renewed);
    return this.#server;
  }

  /** Context for outgoing connections. */
  get client(): SecureContext {
    return this.#client;
  }

  /** Loads changed files for new connections. Invalid files are logged, and the old certificate remains in use. */
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

  /** Starts watching the files. Returns a function that stops it. */
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
      // Public authorities issue certificates to anyone, so clients need one of the operator's authorities.
      ca: ca ?? [],
      requestCert: clients !== 'no',
      rejectUnauthorized: clients === 'required',
    };
    createSecureContext(server);
    const believed = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
    return { server, client: createSecureContext({ ...own, ...believed }) };
  }
}
