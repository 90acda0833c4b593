import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ephemeralKey, loadKey, Vault } from '../../../src/edge/store/vault.ts';

describe('vault', () => {
  const vault = new Vault(ephemeralKey());

  it('decrypts what it encrypted, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, purpose) => {
        const wellFormed = text.toWellFormed();
        expect(vault.open(vault.seal(wellFormed, purpose), purpose)).toBe(wellFormed);
      }),
    );
  });

  it('never encrypts the same text to the same bytes', () => {
    expect(vault.seal('a', 'p')).not.toEqual(vault.seal('a', 'p'));
  });

  it('rejects another purpose, another key, or a changed bit', () => {
    const sealed = vault.seal('secret', 'account-token:MA_A');
    expect(() => vault.open(sealed, 'account-token:MA_B')).toThrow(/cannot be decrypted/);
    expect(() => new Vault(ephemeralKey()).open(sealed, 'account-token:MA_A')).toThrow();
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => vault.open(changed, 'account-token:MA_A')).toThrow();
    }
  });

  it('refuses a key of another length', () => {
    expect(() => new Vault(new Uint8Array(16))).toThrow(/32 bytes/);
  });

  it('creates a whole key file or none, and names a file of another length', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-key-'));
    const file = join(folder, 'keys', 'store.key');
    try {
      const key = loadKey(file);
      expect(loadKey(file)).toEqual(key);
      expect(readdirSync(join(folder, 'keys'))).toEqual(['store.key']);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      writeFileSync(file, '');
      expect(() => loadKey(file)).toThrow(`${file} has 0 bytes instead of 32`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the key file', () => {
  it('is created once, readable for its owner only', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-key-'));
    try {
      const file = join(folder, 'keys', 'store.key');
      const modeOf = (path: string): number => statSync(path).mode & 0o777;
      const key = loadKey(file);
      expect([key.length, modeOf(file), modeOf(join(folder, 'keys'))]).toEqual([32, 0o600, 0o700]);
      chmodSync(file, 0o644);
      expect(loadKey(file)).toEqual(key);
      expect(modeOf(file)).toBe(0o600);
      // A key file that only its owner can read is left as it is: its file system may be read-only.
      chmodSync(file, 0o400);
      expect(loadKey(file)).toEqual(key);
      expect(modeOf(file)).toBe(0o400);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
