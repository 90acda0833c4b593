/** scripts/record-bot-call.ts records the demonstration of the documentation again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Program } from '../e2e/service.ts';
import { missing } from './tools.ts';

it.skipIf(missing('espeak-ng'))(
  'records a call with interruption, answer and transfer',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-demonstration-'));
    const script = new Program('scripts/record-bot-call.ts', [folder], {});
    expect([await script.exited, script.stderr]).toEqual([0, '']);
    const size = readFileSync(join(folder, 'bot-call.mp3')).length;
    expect(size).toBeGreaterThan(50_000);
    expect(size).toBeLessThan(300_000);
    const picture = readFileSync(join(folder, 'bot-call.svg'), 'utf8');
    const texts = [...picture.matchAll(/<text [^>]*fill="#0f172a">([^<]+)/g)].map(
      ([, text]) => text,
    );
    expect(texts).toEqual([
      expect.stringMatching(/^The caller interrupts\. .* after \d+ of \d+ ms\.$/),
      expect.stringMatching(/^The bot answers \d+ ms after/),
      expect.stringContaining('warm transfer'),
      expect.stringContaining('accepts with key 1'),
    ]);
    rmSync(folder, { recursive: true });
  },
);
