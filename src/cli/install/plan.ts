/** Plans `carillon install` as a list of steps that can be shown before they run. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
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

/** Runs a program. Throws with its output if it fails. Returns its standard output. */
export type RunProgram = (command: string, args: readonly string[]) => string;

export interface Step {
  /** One line for display: the shell command where one exists. */
  readonly text: string;
  /** Returns what the operator must know, if anything. */
  readonly act: () => string | undefined;
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
    act: () => void run(command, args),
  });
  const deployed = (name: string): string => readFileSync(join(from, 'deploy', name), 'utf8');
  return [
    ...(here && !hasUser(USER) ? [program('useradd', ...userArguments())] : []),
    program('rm', '-rf', at(`${PROGRAM}.new`)),
    program(
      process.execPath,
      join(from, 'scripts/assemble.mjs'),
      at(`${PROGRAM}.new`),
      // Files below a folder are packaged, so hard links to the source are safe and save space.
      ...(here ? [] : ['--link']),
    ),
    keep(at(SETTINGS), firstSettings(options.publicHost), here ? 0o640 : 0o644),
    keep(at(SECRETS), SECRETS_TEXT, 0o600),
    ...(here ? [program('chgrp', USER, SETTINGS)] : []),
    // Before anything is replaced: with invalid settings, the running service continues.
    checkSettings(at, run),
    ...(here ? [backupFirst(run)] : []),
    exchange(at(PROGRAM)),
    write(at('/usr/local/bin/carillon'), COMMAND, 0o755),
    write(at('/etc/sysctl.d/60-carillon.conf'), deployed('60-carillon.conf'), 0o644),
    write(at('/etc/systemd/system/carillon.service'), deployed('carillon.service'), 0o644),
    ...(here
      ? [
          kernelSettings(run),
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

/** Checks the settings and secrets with the new program, as the unit does before each start. */
function checkSettings(at: (path: string) => string, run: RunProgram): Step {
  const folder = at(`${PROGRAM}.new`);
  const script = inEnvironment({
    settings: at(SETTINGS),
    secrets: at(SECRETS),
    data: at(DATA),
    command: `"${folder}/node_modules/node/bin/node" "${folder}/src/main.ts" --check-config`,
  });
  return {
    text: `${folder}/src/main.ts --check-config, with ${at(SETTINGS)} and ${at(SECRETS)}`,
    act: () =>
      void run('env', ['-u', 'CARILLON_CONFIG', '-u', 'CARILLON_DATA_DIR', 'sh', '-c', script]),
  };
}

const UNIT = 'carillon.service';
const BACKUP = `if systemctl --quiet is-active ${UNIT}; then /usr/local/bin/carillon backup; fi`;

/** Backs up the database that the new version may migrate, if the service is running. */
const backupFirst = (run: RunProgram): Step => ({
  text: `sh -c '${BACKUP}'`,
  act() {
    try {
      const isDone = run('sh', ['-c', BACKUP]) !== '';
      if (isDone || !existsSync(`${DATA}/carillon.db`)) return undefined;
      return `no backup was made, because ${UNIT} does not run: copy ${DATA}/carillon.db* before the next start`;
    } catch (error) {
      const reason = String(error);
      if (!reason.includes('pg_dump')) throw error;
      return 'no backup was made, because the store is on PostgreSQL: use pg_dump before the next start';
    }
  },
});

/** A container may not change the kernel. The service runs without these settings, and `carillon doctor` checks them. */
const kernelSettings = (run: RunProgram): Step => ({
  text: 'sysctl --quiet --load /etc/sysctl.d/60-carillon.conf',
  act() {
    try {
      run('sysctl', ['--quiet', '--load', '/etc/sysctl.d/60-carillon.conf']);
      return undefined;
    } catch (error) {
      return `not all kernel settings were applied: ${error instanceof Error ? error.message : String(error)}`;
    }
  },
});

/** Installs the new program and keeps the old one as `.old` for a rollback. */
function exchange(target: string): Step {
  return {
    text: `rm -rf ${target}.old; mv ${target} ${target}.old (if it exists); mv ${target}.new ${target}`,
    act() {
      // After an installation that stopped here or later, `.old` has the version before.
      const isRepeated = existsSync(`${target}.old`) && isSameProgram(target, `${target}.new`);
      rmSync(isRepeated ? target : `${target}.old`, { recursive: true, force: true });
      if (existsSync(target)) renameSync(target, `${target}.old`);
      renameSync(`${target}.new`, target);
      return isRepeated ? `${target}.old stays: the program is the same as before` : undefined;
    },
  };
}

/** Returns whether the two programs have the same sources and media engine. */
function isSameProgram(one: string, other: string): boolean {
  return ['src', 'bin', 'package.json', 'build/native'].every((part) => {
    const [here, there] = [join(one, part), join(other, part)];
    const files = filesIn(here);
    return (
      files.join() === filesIn(there).join() &&
      files.every((file) => readFileSync(join(here, file)).equals(readFileSync(join(there, file))))
    );
  });
}

/** Paths of the files in a folder, relative to it, or `['']` for a file. */
function filesIn(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return found === undefined ? [] : [''];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(path, name)).isFile())
    .sort();
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
      return undefined;
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

interface ProgramEnvironment {
  readonly settings: string;
  readonly secrets: string;
  readonly data: string;
  readonly command: string;
}

/** Shell script that runs a command with the settings of the service. */
const inEnvironment = ({ settings, secrets, data, command }: ProgramEnvironment): string =>
  `set -a
CARILLON_CONFIG="\${CARILLON_CONFIG:-${settings}}"
CARILLON_DATA_DIR="\${CARILLON_DATA_DIR:-${data}}"
if [ -r "${secrets}" ]; then . "${secrets}"; fi
set +a
exec ${command}`;

const COMMAND = `#!/bin/sh
# The operator's command, with the settings of the service. Secrets are read where the caller may read them.
${inEnvironment({
  settings: SETTINGS,
  secrets: SECRETS,
  data: DATA,
  command: `${PROGRAM}/node_modules/node/bin/node ${PROGRAM}/bin/carillon.mjs "$@"`,
})}
`;
