import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const { billOfMaterials } = (await import(new URL('scripts/release.mjs', root).href)) as {
  billOfMaterials(): {
    readonly specVersion: string;
    readonly components: readonly {
      readonly name: string;
      readonly version?: string;
      readonly scope?: string;
      readonly purl?: string;
    }[];
  };
};

it('the bill of materials has every runtime package and native library with its version', () => {
  const { components, specVersion } = billOfMaterials();
  expect(Number(specVersion)).toBeGreaterThanOrEqual(1.5);
  const versions = new Map(components.map(({ name, version }) => [name, version]));
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL('package.json', root), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  const missing = Object.entries(dependencies).filter(
    ([name, version]) => versions.get(name) !== version,
  );
  expect(missing).toEqual([]);
  expect(Object.keys(devDependencies).filter((name) => versions.has(name))).toEqual([]);
  for (const name of ['opus', 'sqlite', 'openssl', 'v8', 'libuv'])
    expect(versions.get(name), name).toMatch(/^\d+\.\d+/);
  expect(new Set(components.map(({ purl, name }) => purl ?? name)).size).toBe(components.length);
});
