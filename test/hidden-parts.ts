/** Runs programs on a machine on which optional programs, libraries and packages are hidden. Needs root. */
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether this machine can hide files in a mount namespace. */
export const canHide = spawnSync('unshare', ['-m', 'true']).status === 0;

/** Makes packages unresolvable in a process. */
const HIDE_PACKAGES = `import { registerHooks } from 'node:module';
registerHooks({ resolve(name, context, next) {
  if (/^(@redis\\/client|@modelcontextprotocol)/.test(name)) {
    const error = new Error('Cannot find package ' + name);
    error.code = 'ERR_MODULE_NOT_FOUND';
    throw error;
  }
  return next(name, context);
} });`;

/** Files of optional parts. Those that the machine lacks are hidden already. */
const FILES = {
  flite: '/usr/bin/flite',
  'espeak-ng': '/usr/bin/espeak-ng',
  pocketsphinx: '/usr/bin/pocketsphinx_continuous',
  libspeexdsp: '/lib/x86_64-linux-gnu/libspeexdsp.so.1',
  libpq: '/lib/x86_64-linux-gnu/libpq.so.5',
} as const;
export type Part = keyof typeof FILES | 'packages';
/** Optional programs and libraries. */
export const PARTS = Object.keys(FILES) as (keyof typeof FILES)[];

/**
 * Writes a program to `folder` that runs Node without these parts, and returns its path. `packages` hides the optional
 * packages of npm.
 */
export function nodeWithout(hidden: readonly Part[], folder: string): string {
  const hooks = join(folder, 'hide.mjs');
  writeFileSync(hooks, HIDE_PACKAGES);
  const paths = hidden.flatMap((part) => (part === 'packages' ? [] : [FILES[part]]));
  const mounts = paths
    .filter((path) => existsSync(path))
    .map((path) => `mount --bind /dev/null ${realpathSync(path)}`);
  const hook = hidden.includes('packages') ? `--import ${hooks} ` : '';
  const script = [...mounts, `exec ${process.execPath} ${hook}"$@"`].join(' && ');
  const file = join(folder, 'node.sh');
  writeFileSync(file, `#!/bin/sh\nexec unshare -m /bin/sh -c '${script}' sh "$@"\n`, {
    mode: 0o755,
  });
  return file;
}
