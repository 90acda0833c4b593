/** Verifies that tables in different files agree. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadNativeAddon } from '../../src/base/native-addon.ts';
import { ALARM_KINDS } from '../../src/domain/alarm/alarm.ts';
import { CODEC_NAMES } from '../../src/protocol/sdp/sdp.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('tables', () => {
  it('has each codec in SDP and in the native engine', () => {
    const { codecNames } = loadNativeAddon() as { readonly codecNames: readonly string[] };
    expect([...CODEC_NAMES].sort()).toEqual([...codecNames].sort());
  });

  it('has a solution of each alarm in the console', () => {
    const page = readFileSync(join(ROOT, 'web/console/pages/alarms.tsx'), 'utf8');
    expect(ALARM_KINDS.filter((kind) => !page.includes(`  ${kind}: t(`))).toEqual([]);
  });

  it('describes each alarm in docs/operate/troubleshooting.md', () => {
    const page = readFileSync(join(ROOT, 'docs/operate/troubleshooting.md'), 'utf8');
    expect(ALARM_KINDS.filter((kind) => !page.includes(`\`${kind}\``))).toEqual([]);
  });
});
