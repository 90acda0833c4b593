import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SpeechCache } from '../../../src/edge/speech/speech-cache.ts';
import { changesOf, powerLossMissing } from '../../crash/power-loss.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-speech-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(powerLossMissing !== undefined)(
  'speech is on the disk before it has its final name, so that a power failure leaves no empty speech (needs cc)',
  async () => {
    const cache = join(folder, 'cache');
    const program = `
      import { SpeechCache } from './src/edge/speech/speech-cache.ts';
      const cache = await SpeechCache.open('${cache}', 1000);
      await cache.put('a', Buffer.from('samples'));`;
    expect(changesOf(program, cache, folder)).toEqual([
      ...['write /a.1.tmp', 'sync /a.1.tmp', 'rename /a.1.tmp'],
    ]);
    const reopened = await SpeechCache.open(cache, 1000);
    expect(Buffer.from((await reopened.get('a')) ?? []).toString()).toBe('samples');
  },
);

it('calls that store the same text at the same time do not disturb each other', async () => {
  const cache = await SpeechCache.open(join(folder, 'cache'), 10_000_000);
  const [long, short] = [Buffer.alloc(1_000_000, 'a'), Buffer.alloc(500_000, 'b')];
  await Promise.all([long, short, long, short].map((samples) => cache.put('k', samples)));
  const stored = Buffer.from((await cache.get('k')) ?? []);
  expect(stored.equals(long) || stored.equals(short)).toBe(true);
});

it('leaves no part of speech that could not be stored', async () => {
  const cache = await SpeechCache.open(folder, 10_000_000);
  mkdirSync(join(folder, 'k.pcm'));
  await expect(cache.put('k', Buffer.alloc(100))).rejects.toThrow();
  expect(readdirSync(folder)).toEqual(['k.pcm']);
});

it('opens although a listed file no longer exists, and removes what it cannot read', async () => {
  const cache = await SpeechCache.open(folder, 10_000_000);
  await cache.put('k', Buffer.alloc(100));
  symlinkSync(join(folder, 'absent'), join(folder, 'gone.pcm'));
  mkdirSync(join(folder, 'other.pcm'));
  const reopened = await SpeechCache.open(folder, 10_000_000);
  expect(await reopened.get('k')).toHaveLength(100);
  expect(reopened.bytes).toBe(100);
  expect(readdirSync(folder)).toEqual(['k.pcm']);
});
