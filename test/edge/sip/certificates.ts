/** Certificates for one test in a temporary folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { silentLogger } from '../../../src/base/logger.ts';
import { TlsIdentity } from '../../../src/edge/sip/signalling.ts';
import type { TlsPolicy } from '../../../src/edge/sip/transport/tls-identity.ts';

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** `sip:` names become URIs, IP addresses become addresses, and others become DNS names. */
export async function certificate(names: readonly string[], issuer?: Pair): Promise<Pair> {
  const altNames = names.map((name) => {
    if (isIP(name) !== 0) return { type: 7 as const, ip: name };
    return { type: name.startsWith('sip:') ? (6 as const) : (2 as const), value: name };
  });
  const made = await generate([{ name: 'commonName', value: names[0] ?? 'authority' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: issuer === undefined },
      ...(altNames.length === 0 ? [] : [{ name: 'subjectAltName' as const, altNames }]),
    ],
    ...(issuer === undefined ? {} : { ca: issuer }),
  });
  return { cert: made.cert, key: made.private };
}

export class IdentityFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'carillon-tls-'));

  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    return path;
  }

  identity(own: Pair, authority?: Pair, policy: Partial<TlsPolicy> = {}): TlsIdentity {
    const files = {
      certFile: this.write('own.crt', own.cert),
      keyFile: this.write('own.key', own.key),
      caFile: authority === undefined ? '' : this.write('ca.crt', authority.cert),
    };
    return new TlsIdentity(files, { clients: 'no', wildcards: false, ...policy }, silentLogger);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
