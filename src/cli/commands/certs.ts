/** `carillon certs plivo`: creates a local certificate authority and a certificate for Plivo's host name. */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { replacePrivate } from '../../edge/store/private-file.ts';
import type { Session } from '../terminal.ts';

/** Host names that Plivo's client libraries use for voice requests regardless of the configured base URL. */
const PLIVO_HOSTS = ['api.plivo.com'];
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
/** Validity of the server certificate. Some clients refuse longer ones. */
const CERTIFICATE_DAYS = 825;

interface Flags {
  readonly out: string;
  readonly address: string;
  readonly also: readonly string[];
}

export function addCertificateCommands(
  program: Command,
  sessionOf: (command: Command) => Session,
): void {
  program
    .command('certs')
    .description('Create certificates for the host names that client libraries require')
    .command('plivo')
    .description(
      "Create a local certificate authority and a certificate for Plivo's host name, and show how to configure both sides",
    )
    .option('--out <folder>', 'output folder; an existing authority in it is reused', 'plivo-certs')
    .option(
      '--address <address>',
      'IP address at which your application reaches this service',
      '127.0.0.1',
    )
    .option(
      '--also <host>',
      'another host name or address to include in the certificate',
      collect,
      [],
    )
    .action(async (flags: Flags, command: Command) => {
      if (isIP(flags.address) === 0) throw new Error('--address must be an IP address');
      const folder = resolve(flags.out);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const at = (name: string): string => join(folder, name);
      const authority = await authorityAt(at('ca.crt'), at('ca.key'));
      const hosts = [...PLIVO_HOSTS, ...flags.also];
      const made = await sign(authority, hosts);
      replacePrivate(at('server.key'), made.private);
      writeFileSync(at('server.crt'), `${made.cert.trim()}\n${authority.cert.trim()}\n`, {
        mode: 0o644,
      });
      const reply = {
        ca: at('ca.crt'),
        certificate: at('server.crt'),
        key: at('server.key'),
        hosts_line: `${flags.address} ${PLIVO_HOSTS.join(' ')}`,
        settings: {
          CARILLON_HTTP_PORT: '443',
          CARILLON_HTTP_TLS_CERT_FILE: at('server.crt'),
          CARILLON_HTTP_TLS_KEY_FILE: at('server.key'),
        },
        application: {
          NODE_EXTRA_CA_CERTS: at('ca.crt'),
          REQUESTS_CA_BUNDLE: at('ca.crt'),
        },
      };
      sessionOf(command).report(reply, words(reply));
    });
}

const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];

function words(reply: {
  readonly hosts_line: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly application: Readonly<Record<string, string>>;
}): string[] {
  const lines = (values: Readonly<Record<string, string>>): string[] =>
    Object.entries(values).map(([name, value]) => `  ${name}=${value}`);
  return [
    'On the service (or configure a proxy on port 443 with the same files):',
    ...lines(reply.settings),
    '',
    'On the machine of your application: a line in /etc/hosts and one variable (Node · Python)',
    `  ${reply.hosts_line}`,
    ...lines(reply.application),
  ];
}

interface Pair {
  readonly cert: string;
  readonly private: string;
}

/** Loads the authority, or creates it on the first run. Later runs reuse it because applications already trust it. */
async function authorityAt(certFile: string, keyFile: string): Promise<Pair> {
  if (existsSync(certFile) && existsSync(keyFile)) {
    const cert = readFileSync(certFile, 'utf8');
    if (Date.parse(new X509Certificate(cert).validTo) > Date.now() + CERTIFICATE_DAYS * DAY_MS) {
      return { cert, private: readFileSync(keyFile, 'utf8') };
    }
  }
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: 'Carillon trial authority' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + AUTHORITY_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  replacePrivate(keyFile, made.private);
  writeFileSync(certFile, made.cert, { mode: 0o644 });
  return made;
}

async function sign(authority: Pair, hosts: readonly string[]): Promise<Pair> {
  const { generate } = await import('selfsigned');
  return generate([{ name: 'commonName', value: hosts[0] ?? '' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + CERTIFICATE_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) =>
          isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host },
        ),
      },
    ],
  });
}
