/** Plans `carillon install` as a list of steps that can be shown before they run. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';

export interface InstallOptions {
  /** Folder of the project after setup. */
  readonly from: string;
  /** Folder used as `/`. With one, users and services stay unchanged. Empty: install on this machine. */
  readonly root: string;
  /** Address or name at which phones and carriers reach this machine; empty: set later. */
  readonly publicHost: string;
  /** Whether to start the service after the installation. */
  readonly start: boolean;
}

/** Runs a program. Throws with its output if it fails. */
export type RunProgram = (command: string, args: readonly string[]) => void;

export interface Step {
  /** One line for display: the shell command where one exists. */
  readonly text: string;
  readonly act: () => void;
}

const PROGRAM = '/opt/carillon';
const SETTINGS = '/etc/carillon/carillon.yaml';
const SECRETS = '/etc/carillon/environment';
const DATA = '/var/lib/carillon';
const USER = 'carillon';

export function installSteps(options: InstallOptions, run: RunProgram): readonly Step[] {
  const { from, root, start } = options;
  const at = (path: string): string => (root === '' ? path : join(root, path));
  const here = root === '';
  const program = (command: string, ...args: readonly string[]): Step => ({
    text: [command, ...args].join(' '),
    act: () => run(command, args),
  });
  const node = at(`${PROGRAM}/node_modules/node/bin/node`);
  const deployed = (name: string): string => readFileSync(join(from, 'deploy', name), 'utf8');
  const isUpgrade = existsSync(at(PROGRAM));
  return [
    ...(here && !hasUser(USER) ? [program('useradd', ...userArguments())] : []),
    ...(here && isUpgrade ? [backupFirst(program)] : []),
    program('rm', '-rf', at(`${PROGRAM}.new`)),
    program(
      process.execPath,
      join(from, 'scripts/assemble.mjs'),
      at(`${PROGRAM}.new`),
      // Files below a folder are packaged, so hard links to the source are safe and save space.
      ...(here ? [] : ['--link']),
    ),
    exchange(at(PROGRAM)),
    keep(at(SETTINGS), firstSettings(options.publicHost), here ? 0o640 : 0o644),
    keep(at(SECRETS), SECRETS_TEXT, 0o600),
    ...(here ? [program('chgrp', USER, SETTINGS)] : []),
    write(at('/usr/local/bin/carillon'), COMMAND, 0o755),
    write(at('/etc/sysctl.d/60-carillon.conf'), deployed('60-carillon.conf'), 0o644),
    write(at('/etc/systemd/system/carillon.service'), deployed('carillon.service'), 0o644),
    // Checked before the restart: with invalid settings, the running service continues.
    {
      text: `CARILLON_CONFIG=${at(SETTINGS)} ${node} ${at(PROGRAM)}/src/main.ts --check-config`,
      act: () =>
        run('env', [
          `CARILLON_CONFIG=${at(SETTINGS)}`,
          node,
          `${at(PROGRAM)}/src/main.ts`,
          '--check-config',
        ]),
    },
    ...(here
      ? [
          program('sysctl', '--quiet', '--load', '/etc/sysctl.d/60-carillon.conf'),
          program('systemctl', 'daemon-reload'),
          program('systemctl', 'enable', 'carillon.service'),
          ...(start ? [program('systemctl', 'restart', 'carillon.service')] : []),
        ]
      : []),
  ];
}

const userArguments = (): readonly string[] => [
  '--system',
  '--user-group',
  '--home-dir',
  DATA,
  '--shell',
  '/usr/sbin/nologin',
  USER,
];

/** Backs up the database that the new version may migrate, if the service is running. */
const backupFirst = (program: (command: string, ...args: readonly string[]) => Step): Step =>
  program(
    'sh',
    '-c',
    'if systemctl --quiet is-active carillon.service; then /usr/local/bin/carillon backup; fi',
  );

/** Installs the new program and keeps the old one as `.old` for a rollback. */
function exchange(target: string): Step {
  return {
    text: `rm -rf ${target}.old; mv ${target} ${target}.old (if it exists); mv ${target}.new ${target}`,
    act() {
      rmSync(`${target}.old`, { recursive: true, force: true });
      if (existsSync(target)) renameSync(target, `${target}.old`);
      renameSync(`${target}.new`, target);
    },
  };
}

/** Creates a file that the operator may edit. Keeps an existing one. */
function keep(path: string, text: string, mode: number): Step {
  if (existsSync(path)) return { text: `keep ${path}`, act: () => undefined };
  return write(path, text, mode);
}

function write(path: string, text: string, mode: number): Step {
  return {
    text: `write ${path} (mode ${mode.toString(8)})`,
    act() {
      mkdirSync(dirname(path), { recursive: true });
      const old = existsSync(path) ? statSync(path) : undefined;
      writeFileSync(`${path}.new`, text, { mode });
      chmodSync(`${path}.new`, mode);
      if (old !== undefined) chownSync(`${path}.new`, old.uid, old.gid);
      renameSync(`${path}.new`, path);
    },
  };
}

const hasUser = (name: string): boolean =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .some((line) => line.startsWith(`${name}:`));

function firstSettings(publicHost: string): string {
  const reported = (host: string): string => (host === '' ? '' : `, publicHost: ${host}`);
  // SDP requires an address; a host name is valid for SIP only.
  const rtpHost = isIP(publicHost) === 0 ? '' : publicHost;
  const open =
    rtpHost === ''
      ? '# Required for audio with phones on other machines: rtp.publicHost, an IP address.\n'
      : '';
  return `# Settings of Carillon: the page /docs/guide/reference/settings of the service describes each of them.
# After a change: carillon config check, then systemctl reload carillon (rates, carriers, logLevel) or restart.
demo: false
# REST and the bots' callbacks: behind a reverse proxy that ends TLS, or with http.tlsCertFile and http.tlsKeyFile here.
http: { host: 127.0.0.1, port: 8080 }
# publicHost: where phones and carriers reach this machine; behind NAT the public address.
sip: { host: 0.0.0.0, port: 5060${reported(publicHost)} }
${open}rtp: { host: 0.0.0.0, portMin: 20000, portMax: 29999${reported(rtpHost)} }
# rates: /etc/carillon/rates.yaml
# carriers: /etc/carillon/carriers.yaml
`;
}

const SECRETS_TEXT = `# Secrets of Carillon, one a line, in quotes; read by systemd as root, seen by the service alone.
# CARILLON_ADMIN_TOKEN=''
# CARILLON_MAIL_SMTP_URL='smtps://user:password@mail.example'
# CARILLON_HTTP_METRICS_TOKEN=''
`;

const COMMAND = `#!/bin/sh
# The operator's command, with the settings of the service. Secrets are read where the caller may read them.
set -a
CARILLON_CONFIG=\${CARILLON_CONFIG:-${SETTINGS}}
CARILLON_DATA_DIR=\${CARILLON_DATA_DIR:-${DATA}}
if [ -r ${SECRETS} ]; then . ${SECRETS}; fi
set +a
exec ${PROGRAM}/node_modules/node/bin/node ${PROGRAM}/bin/carillon.mjs "$@"
`;
