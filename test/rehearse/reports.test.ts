import { expect, it } from 'vitest';
import { junit } from '../../src/rehearse/reports.ts';
import type { CallResult } from '../../src/rehearse/run.ts';

it('writes characters outside the basic plane to JUnit, and replaces those that XML forbids', () => {
  const result = {
    rehearsal: { file: 'a.yaml', title: 'taxi 🚕', callers: 1 },
    caller: 1,
    observed: { durationMs: 1000 },
    failures: ['"\ud83d" and \u0000 and 𠮷'],
  } as unknown as CallResult;
  const xml = junit([result]);
  expect(xml).toContain('name="taxi 🚕"');
  expect(xml).toContain('<failure message="&quot;?&quot; and ? and 𠮷">');
});
