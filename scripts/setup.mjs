#!/usr/bin/env node
// Prepares everything for `npm start` and `npm test`: system tools, npm packages and the native engine.
// Runs on the system's Node (>= 20) before any package is installed: plain JavaScript without dependencies.
// Progress goes to stderr, so that stdout contains only the output of the service. If nothing changed, it takes milliseconds.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_JOBS } from './build-jobs.mjs';
import { tryLock, unlock } from './setup-lock.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const dev = process.argv.includes('--dev');
const buildDir = join(root, 'build');
const nativeOut = join(buildDir, 'native');
const webDir = join(buildDir, 'web');
const webStamp = join(webDir, '.carillon-stamp');
const lockDir = join(buildDir, 'setup.lock');
const npmStamp = join(root, 'node_modules', '.carillon-stamp.json');

const say = (line) => process.stderr.write(`carillon set-up: ${line}\n`);
const fail = (line) => {
  say(line);
  releaseLock();
  process.exit(1);
};

main();

function main() {
  if (Number(process.versions.node.split('.')[0]) < 20)
    fail(`Node 20 or newer is needed, this is ${process.versions.node}`);
  installPostgresClient();
  if (packagesAreStale() || nativeIsStale() || webIsStale()) setUp();
  linkCommand();
  startDocsBuild();
}

function setUp() {
  takeLock();
  try {
    installSystemTools();
    if (packagesAreStale()) installPackages();
    if (nativeIsStale()) buildNative();
    if (webIsStale()) buildWeb();
  } finally {
    releaseLock();
  }
}

// ------------------------------------------------------------------ lock: concurrent starts build only once

function takeLock() {
  mkdirSync(buildDir, { recursive: true });
  for (let said = false; !tryLock(lockDir); said = true) {
    if (!said) say('another set-up is running, waiting for it');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  }
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      releaseLock();
      process.exit(130);
    });
  }
}

function releaseLock() {
  unlock(lockDir);
}

// ------------------------------------------------------------------ system tools

function installSystemTools() {
  const needs = [
    { found: () => has('g++') || has('clang++'), packages: ['g++'], what: 'a C++20 compiler' },
    { found: () => has('cmake'), packages: ['cmake'], what: 'cmake' },
    { found: () => has('ninja') || has('make'), packages: ['ninja-build'], what: 'ninja or make' },
  ];
  if (dev) {
    needs.push({
      found: () =>
        ['/usr/include', '/usr/local/include', '/opt/homebrew/include'].some((d) =>
          existsSync(join(d, 'doctest/doctest.h')),
        ),
      packages: ['doctest-dev'],
      what: 'doctest (C++ tests)',
    });
    needs.push({
      found: () =>
        ['/usr/include', '/usr/local/include', '/opt/homebrew/include'].some((d) =>
          existsSync(join(d, 'openssl/evp.h')),
        ),
      packages: ['libssl-dev'],
      what: "OpenSSL's headers (C++ tests)",
    });
  }
  const missing = needs.filter((need) => !need.found());
  if (missing.length > 0) {
    const packages = missing.flatMap((need) => need.packages);
    const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
    const names = missing.map((need) => need.what).join(', ');
    if (!canInstall())
      fail(
        `missing: ${names}. Install it and start again:  sudo ${has('apt-get') ? `apt-get update && sudo ${command}` : `<your package manager> ${packages.join(' ')}`}`,
      );
    say(`installing ${packages.join(' ')} (missing: ${names})`);
    apt(['update', '-q']);
    if (apt(['install', '-y', '-q', '--no-install-recommends', ...packages]) !== 0)
      fail(`could not install them; try:  ${command}`);
  }
  installSpeech();
  if (dev) installFormatter();
}

/** Installs clang-format. Without it, the format of C++ sources is not checked. */
function installFormatter() {
  if (has('clang-format') || !canInstall()) return;
  say('installing clang-format (check of the C++ sources)');
  apt(['update', '-q']);
  if (apt(['install', '-y', '-q', '--no-install-recommends', 'clang-format']) !== 0)
    say('clang-format could not be installed; the format of the C++ sources is not checked');
}

/** Installs a speech synthesizer. Without one, `Speak` is skipped with a warning in the call log. */
function installSpeech() {
  if (has('espeak-ng') || has('flite') || !canInstall()) return;
  say('installing espeak-ng and flite (speech for the Speak element)');
  apt(['update', '-q']);
  if (apt(['install', '-y', '-q', '--no-install-recommends', 'espeak-ng', 'flite']) !== 0)
    say('no speech synthesizer could be installed; Speak will be skipped');
}

/** Installs the PostgreSQL client library if the settings use PostgreSQL. The service reports if it is missing. */
function installPostgresClient() {
  if (!wantsPostgres() || hasLibpq() || !canInstall()) return;
  say('installing libpq5 (store.url names a PostgreSQL database)');
  apt(['update', '-q']);
  if (apt(['install', '-y', '-q', '--no-install-recommends', 'libpq5']) !== 0)
    say('libpq5 could not be installed; the store cannot be opened without it');
}

function wantsPostgres() {
  const { CARILLON_STORE_URL, CARILLON_CONFIG, CARILLON_CONFIG_BODY = '' } = process.env;
  if (CARILLON_STORE_URL) return true;
  const file =
    CARILLON_CONFIG && existsSync(CARILLON_CONFIG) ? readFileSync(CARILLON_CONFIG, 'utf8') : '';
  return /\bpostgres(ql)?:\/\//.test(file + CARILLON_CONFIG_BODY);
}

function hasLibpq() {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/opt/homebrew/opt/libpq/lib'];
  for (const arch of ['x86_64-linux-gnu', 'aarch64-linux-gnu', 'arm-linux-gnueabihf'])
    folders.push(join('/usr/lib', arch));
  return folders.some((folder) =>
    ['libpq.so.5', 'libpq.5.dylib'].some((name) => existsSync(join(folder, name))),
  );
}

function canInstall() {
  return process.getuid?.() === 0 && has('apt-get');
}

function apt(args) {
  const run = spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return run.status ?? 1;
}

function has(command) {
  return (process.env.PATH ?? '')
    .split(':')
    .some((dir) => dir !== '' && existsSync(join(dir, command)));
}

// ------------------------------------------------------------------ npm packages

function packagesHash() {
  const hash = createHash('sha256');
  for (const file of ['package.json', 'package-lock.json'])
    hash.update(readFileSync(join(root, file)));
  return hash.update(`${process.platform} ${process.arch}`).digest('hex');
}

function packagesAreStale() {
  try {
    const stamp = JSON.parse(readFileSync(npmStamp, 'utf8'));
    return stamp.hash !== packagesHash() || (dev && !stamp.dev);
  } catch {
    return true;
  }
}

function installPackages() {
  say(
    `installing npm packages${dev ? ' with the test tools' : ''} (about a minute the first time)`,
  );
  const npmCli = process.env.npm_execpath;
  // Not `npm ci`: it refuses a lock file without the optional packages of other platforms, which a registry mirror
  // may not carry. The versions are those of the lock file all the same, and it is left as it is.
  const args = [
    'install',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    dev ? '--include=dev' : '--omit=dev',
  ];
  const command = npmCli ? [process.execPath, [npmCli, ...args]] : ['npm', args];
  // The files of the engine that need no package are compiled at the same time. Errors are shown by `buildNative`.
  const early = nativeIsStale() ? `(${earlySteps().map(quoted).join(' && ')}) >&- 2>&- &` : '';
  const run = spawnSync(
    'sh',
    ['-c', `${early} "$@"; s=$?; wait; exit $s`, 'sh', ...command.flat()],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
      env: cleanEnv(),
    },
  );
  if (run.status !== 0) fail('npm could not install the packages (see above)');
  writeFileSync(npmStamp, JSON.stringify({ hash: packagesHash(), dev }));
}

/** Returns the environment without variables of the outer npm, which would affect a nested npm. */
function cleanEnv() {
  const retained =
    /^npm_config_(registry|cache|cafile|proxy|https_proxy|noproxy|userconfig|globalconfig)$/;
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('npm_') || retained.test(name)),
  );
  delete env.NODE_ENV;
  const own = dirname(dirname(process.execPath));
  if (existsSync(join(own, 'include/node/node_api.h'))) env.npm_config_nodedir = own;
  return env;
}

// ------------------------------------------------------------------ native engine

function nativeHash() {
  return sourcesHash('native').update(`${process.platform} ${process.arch}`).digest('hex');
}

function sourcesHash(folder) {
  const hash = createHash('sha256');
  const walk = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) {
        if (!['test', 'fuzz', 'bench'].includes(entry.name)) walk(path);
      } else {
        hash.update(path.slice(root.length)).update(readFileSync(path));
      }
    }
  };
  walk(join(root, folder));
  return hash;
}

function nativeIsStale() {
  const stamp = join(buildDir, 'native', '.carillon-stamp');
  try {
    return (
      readFileSync(stamp, 'utf8') !== nativeHash() ||
      !existsSync(join(buildDir, 'native', 'carillon.node'))
    );
  } catch {
    return true;
  }
}

/** Returns the source folder of a CMake build folder, or undefined if it is not one. */
function configuredFor(folder) {
  const cache = join(folder, 'CMakeCache.txt');
  if (!existsSync(cache)) return undefined;
  return /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8'))?.[1];
}

/** Returns the command that configures the engine. */
function configureStep() {
  // CMake refuses a build folder that was moved or copied.
  if (configuredFor(nativeOut) !== join(root, 'native'))
    rmSync(nativeOut, { recursive: true, force: true });
  const isConfigured = existsSync(join(nativeOut, 'CMakeCache.txt'));
  const generator = !isConfigured && has('ninja') ? ['-G', 'Ninja'] : [];
  return [
    'cmake',
    ...['-S', join(root, 'native'), '-B', nativeOut, ...generator, '-DCMAKE_BUILD_TYPE=Release'],
  ];
}

function buildStep(...targets) {
  return ['cmake', '--build', nativeOut, ...BUILD_JOBS, '--target', ...targets];
}

/** Compiles what needs no package. The codecs need libopus, so `-k` continues after their failure. */
function earlySteps() {
  const keepGoing = has('ninja') ? ['-k', '0'] : ['-k'];
  return [configureStep(), [...buildStep('carillon_engine'), '--', ...keepGoing]];
}

function quoted(words) {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

function buildNative() {
  say('building the native media engine (about half a minute the first time)');
  for (const [command, ...args] of [configureStep(), buildStep('carillon_addon')]) {
    const run = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
    if (run.status !== 0) {
      process.stderr.write(`${run.stdout ?? ''}${run.stderr ?? ''}`);
      fail('the native engine did not build (see above)');
    }
  }
  writeFileSync(join(nativeOut, '.carillon-stamp'), nativeHash());
}

// ------------------------------------------------------------------ pages for browsers

function webHash() {
  return sourcesHash('web')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

function webIsStale() {
  try {
    return readFileSync(webStamp, 'utf8') !== webHash();
  } catch {
    return true;
  }
}

function buildWeb() {
  const source = join(root, 'web', 'phone');
  // The page imports the phone from the same URL as customer pages.
  bundle(['--external:/phone.js', `--outdir=${webDir}`], ['phone/phone.ts', 'phone/page.ts']);
  copyFileSync(join(source, 'page.html'), join(webDir, 'page.html'));
  copyFileSync(join(source, 'phone-api.d.ts'), join(webDir, 'phone.d.ts'));
  const consoleDir = join(webDir, 'console');
  rmSync(consoleDir, { recursive: true, force: true });
  // The widgets are written for React; Preact has the same interface.
  const preact = [
    '--jsx=automatic',
    '--jsx-import-source=preact',
    '--alias:react=./web/console/react.mjs',
    '--alias:react-dom=preact/compat',
    '--alias:react/jsx-runtime=preact/jsx-runtime',
    // A copy of what Preact has, for old versions of React.
    '--alias:use-sync-external-store/shim=./web/console/react.mjs',
  ];
  bundle(
    [
      ...preact,
      '--splitting',
      '--chunk-names=part-[hash]',
      '--define:process.env.NODE_ENV="production"',
      `--outdir=${consoleDir}`,
    ],
    ['console/console.tsx', 'console/console.css'],
  );
  copyFileSync(join(root, 'web', 'console', 'index.html'), join(consoleDir, 'index.html'));
  const apiDir = join(webDir, 'api');
  mkdirSync(apiDir, { recursive: true });
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    copyFileSync(join(root, 'node_modules/swagger-ui-dist', file), join(apiDir, file));
  copyFileSync(join(root, 'web', 'api', 'init.js'), join(apiDir, 'init.js'));
  writeFileSync(webStamp, webHash());
}

function bundle(options, files) {
  const common = ['--bundle', '--minify', '--format=esm', '--target=es2022', '--log-level=warning'];
  const run = spawnSync(
    join(root, 'node_modules', '.bin', 'esbuild'),
    [...common, ...options, ...files.map((file) => join(root, 'web', file))],
    { cwd: root, encoding: 'utf8' },
  );
  if (run.status !== 0) {
    process.stderr.write(`${run.stdout ?? ''}${run.stderr ?? ''}`);
    fail('the pages for browsers did not build (see above)');
  }
}

// ------------------------------------------------------------------ documentation site

/** Builds the site in the background at low priority: the service does not wait for it. Tests build it when they need it. */
function startDocsBuild() {
  if (dev) return;
  spawn(process.execPath, [join(root, 'scripts/docs.mjs'), '--if-stale', '--low-priority'], {
    cwd: root,
    detached: true,
    stdio: 'ignore',
    env: cleanEnv(),
  }).unref();
}

// ------------------------------------------------------------------ the operator's command

/** Links the command so that `npx carillon` finds it in node_modules/.bin. */
function linkCommand() {
  const link = join(root, 'node_modules', '.bin', 'carillon');
  if (existsSync(link)) return;
  rmSync(link, { force: true });
  chmodSync(join(root, 'bin', 'carillon.mjs'), 0o755);
  symlinkSync('../../bin/carillon.mjs', link);
}
