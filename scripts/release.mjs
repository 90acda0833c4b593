#!/usr/bin/env node
// `npm run release` writes the release archive, its software bill of materials (CycloneDX) and their checksums to
// build/release. The same sources on the same system give the same archive. `--sbom` writes only the bill of materials.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);

/** Returns the CycloneDX document of the npm packages and native libraries that run in the service. */
export function billOfMaterials() {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const npm = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (npm.status !== 0) throw new Error(`npm sbom failed: ${npm.stderr}`);
  const bom = JSON.parse(npm.stdout);
  bom.metadata.component.name = 'carillon';
  // `--omit dev` also omits packages of the service that a development package would accept as a peer.
  const isDevelopment = ({ properties }) =>
    properties.some(({ name }) => name === 'cdx:npm:package:development');
  bom.components = bom.components.filter((one) => !isDevelopment(one));
  const kept = new Set(bom.components.map((one) => one['bom-ref']));
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref) || ref === bom.metadata.component['bom-ref'])
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  bom.components.push(...nativeComponents());
  return bom;
}

function nativeComponents() {
  const { opusVersion } = require('../build/native/carillon.node');
  const Database = require('better-sqlite3');
  const db = new Database(':memory:');
  const sqlite = db.prepare('SELECT sqlite_version()').pluck().get();
  db.close();
  const versions = JSON.parse(
    spawnSync(
      join(root, 'node_modules/node/bin/node'),
      ['-p', 'JSON.stringify(process.versions)'],
      {
        encoding: 'utf8',
      },
    ).stdout,
  );
  return [
    component('opus', /\d+(\.\d+)+/.exec(opusVersion)?.[0] ?? 'unknown', 'BSD-3-Clause', {
      description: `audio codec in the media engine: ${opusVersion}`,
    }),
    component('sqlite', sqlite, 'blessing', { description: 'database, in better-sqlite3' }),
    component('openssl', versions.openssl, 'Apache-2.0', {
      description: 'TLS and DTLS, in the Node.js executable',
    }),
    component('v8', versions.v8, 'BSD-3-Clause', { description: 'in the Node.js executable' }),
    component('libuv', versions.uv, 'MIT', { description: 'in the Node.js executable' }),
    component('libpq', undefined, 'PostgreSQL', {
      description: 'PostgreSQL client of the system, loaded with store.url',
      scope: 'optional',
    }),
    component('speexdsp', undefined, 'BSD-3-Clause', {
      description: 'audio cleaning of the system, loaded by streams that request it',
      scope: 'optional',
    }),
  ];
}

const component = (name, version, licence, more) => ({
  'bom-ref': `native:${name}`,
  type: 'library',
  name,
  ...(version !== undefined && { version, purl: `pkg:generic/${name}@${version}` }),
  licenses: [{ license: licence === 'blessing' ? { id: 'blessing' } : { id: licence } }],
  scope: 'required',
  ...more,
});

const checksum = (file) =>
  new Promise((done, failed) => {
    const hash = createHash('sha256');
    createReadStream(file)
      .on('data', (chunk) => hash.update(chunk))
      .on('end', () => done(hash.digest('hex')))
      .on('error', failed);
  });

async function release(onlySbom) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = `carillon-${version}-${process.platform}-${process.arch}`;
  const out = join(root, 'build', 'release');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const bom = join(out, `${name}.cdx.json`);
  writeFileSync(bom, `${JSON.stringify(billOfMaterials(), undefined, 2)}\n`);
  const files = [bom];
  if (!onlySbom) files.unshift(archive(out, name));
  const lines = [];
  for (const file of files) lines.push(`${await checksum(file)}  ${file.slice(out.length + 1)}`);
  writeFileSync(join(out, 'SHA256SUMS'), `${lines.join('\n')}\n`);
  console.log(
    `${lines.join('\n')}\n\nwritten to build/release; check with: sha256sum -c SHA256SUMS`,
  );
}

function archive(out, name) {
  sh(process.execPath, [join(root, 'scripts/assemble.mjs'), join(out, name)]);
  const file = join(out, `${name}.tar.gz`);
  // The time of the last commit, so that the archive depends on its content only.
  const time = process.env.SOURCE_DATE_EPOCH ?? sh('git', ['log', '-1', '--format=%ct']).trim();
  const fixed = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner'];
  sh('tar', [...fixed, '--use-compress-program=gzip -n', '-cf', file, '-C', out, name]);
  rmSync(join(out, name), { recursive: true });
  return file;
}

function sh(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  return stdout;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await release(process.argv.includes('--sbom'));
