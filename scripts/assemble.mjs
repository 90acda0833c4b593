#!/usr/bin/env node
// Copies the files needed at run time into an empty folder: `assemble.mjs FOLDER [--without-node]`.
// Used by the Docker image and `carillon install`. Plain JavaScript without dependencies, like setup.mjs.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Packages needed only to build. */
const BUILD_ONLY =
  /^(@discordjs\/opus|node-addon-api|node-api-headers|esbuild|@esbuild\/.*|sip\.js|preact|@preact\/.*|uplot|wavesurfer\.js|@picocss\/pico|uqr|swagger-ui-dist|@scarf\/scarf)$/;
/** Documentation, tests and types of packages, by path within the package. */
const NOT_RUN =
  /^\/(docs|examples|benchmarks?|tests?|__tests__|\.github)$|\.(map|md|markdown|d\.ts|d\.mts|d\.cts|flow)$/i;
/** Source folders of packages with prebuilt binaries. */
const SOURCES = { 'better-sqlite3': /^\/(deps|src)$/ };
const OWN = [
  'src',
  'packages',
  'bin',
  'config',
  'package.json',
  // A release archive installs itself.
  'package-lock.json',
  'scripts/assemble.mjs',
  'build/native/carillon.node',
  'build/web',
  'build/docs',
  'README.md',
  'CHANGELOG.md',
  'deploy',
];

/** With `--link`, files are hard-linked where possible, for a tree that is packaged or deleted immediately. */
const [folder, ...flags] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-'))
  fail('usage: assemble.mjs FOLDER [--without-node]');
const target = resolve(folder);
if (existsSync(target) && readdirSync(target).length > 0) fail(`${target} is not empty`);
if (!existsSync(join(root, 'build/native/carillon.node')))
  fail('the native engine is not built: npm run build');
// The documentation site is optional: the service runs without it if it cannot be built. An archive has no sources of it.
const docs = join(root, 'scripts/docs.mjs');
if (existsSync(docs))
  spawnSync(process.execPath, [docs, '--if-stale'], { stdio: ['ignore', 'ignore', 2] });
mkdirSync(target, { recursive: true });
for (const name of OWN) {
  if (name === 'build/docs' && !existsSync(join(root, name))) continue;
  copy(join(root, name), join(target, name));
}
for (const name of packages()) copyPackage(name);
mkdirSync(join(target, 'node_modules', '.bin'), { recursive: true });
symlinkSync('../../bin/carillon.mjs', join(target, 'node_modules', '.bin', 'carillon'));
writeFileSync(
  join(target, 'RELEASE'),
  `${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`,
);

/** Folders in node_modules of all packages that the lock file does not mark as development dependencies. */
function packages() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path]) => path.slice('node_modules/'.length))
    .filter((name) => !BUILD_ONLY.test(name))
    .filter(
      (name) => !flags.includes('--without-node') || !/^node(-bin-.*)?$|^node-linux-/.test(name),
    )
    .filter((name) => existsSync(join(root, 'node_modules', name)));
}

function copyPackage(name) {
  const from = join(root, 'node_modules', name);
  // Nested packages have separate entries.
  const unused = [/^\/node_modules$/, NOT_RUN, SOURCES[name] ?? /^$a/];
  copy(from, join(target, 'node_modules', name), (path) => {
    const inside = path.slice(from.length);
    return !unused.some((pattern) => pattern.test(inside));
  });
}

function copy(from, to, filter = () => true) {
  mkdirSync(dirname(to), { recursive: true });
  if (flags.includes('--link')) link(from, to, filter);
  else cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter });
}

function link(from, to, filter) {
  if (!filter(from)) return;
  if (lstatSync(from).isDirectory()) {
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) link(join(from, name), join(to, name), filter);
    return;
  }
  try {
    linkSync(from, to);
  } catch {
    // The target is on another file system, or the file is a symbolic link.
    cpSync(from, to, { verbatimSymlinks: true });
  }
}

function fail(line) {
  process.stderr.write(`assemble: ${line}\n`);
  process.exit(1);
}
