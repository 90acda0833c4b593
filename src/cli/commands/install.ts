/** `carillon install`: installs the service under systemd on Debian or Ubuntu. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { installSteps, type RunProgram } from '../install/plan.ts';
import type { Session } from '../terminal.ts';

const FROM = fileURLToPath(new URL('../../..', import.meta.url));
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

interface Flags {
  readonly dryRun?: boolean;
  readonly root: string;
  readonly publicHost: string;
  readonly start: boolean;
}

export function addInstallCommand(
  program: Command,
  sessionOf: (command: Command) => Session,
): void {
  program
    .command('install')
    .description(
      'Install this folder as a systemd service on Debian or Ubuntu, or upgrade it. Settings and data are kept.',
    )
    .option('--dry-run', 'show the steps without running them')
    .option('--public-host <host>', 'address at which phones and carriers reach this machine', '')
    .option('--no-start', 'install without starting it')
    .option('--root <folder>', 'install below this folder, to build packages and images', '')
    .action((flags: Flags, command: Command) => {
      const session = sessionOf(command);
      const { publicHost, root, start } = flags;
      if (publicHost !== '' && isIP(publicHost) === 0 && !HOST.test(publicHost))
        throw new Error(`--public-host must be an address or a host name, not ${publicHost}`);
      const dryRun = flags.dryRun === true;
      if (!dryRun && root === '') refuseUnfit();
      const steps = installSteps({ from: FROM, root, publicHost, start }, runProgram);
      for (const { text, act } of steps) {
        session.terminal.note(`${dryRun ? 'would ' : ''}${text}\n`);
        const known = dryRun ? undefined : act();
        if (known !== undefined) session.terminal.note(`  NOTE: ${known}\n`);
      }
      const texts = steps.map(({ text }) => text);
      const said = dryRun
        ? 'nothing was changed'
        : 'installed; next, run carillon doctor and journalctl -u carillon';
      session.done(said, { dry_run: dryRun, steps: texts });
    });
}

function refuseUnfit(): void {
  if (process.getuid?.() !== 0) throw new Error('install needs root: sudo npx carillon install');
  if (!existsSync('/run/systemd/system')) {
    throw new Error(
      'this machine does not use systemd: use deploy/Dockerfile for containers, or --root to build a package',
    );
  }
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  if (!/^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release))
    throw new Error(
      'install supports Debian and Ubuntu only; on other systems follow docs/operate/install.md',
    );
}

const runProgram: RunProgram = (command, args) => {
  const { status, stdout, stderr, error } = spawnSync(command, [...args], { encoding: 'utf8' });
  if (error) throw new Error(`${command} failed to start: ${error.message}`);
  if (status !== 0) throw new Error(`${command} failed (${status}): ${stderr.trim()}`);
  return stdout;
};
