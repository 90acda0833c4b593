import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { comparedRows } from '../../bench/calls/peers.ts';
import type { Step } from '../../bench/calls/step.ts';
import { programOf } from '../../bench/peers/peer.ts';

const at = (rate: number, msPerCall: number, failed = 0): Step => ({
  rate,
  msPerCall,
  failed,
  calls: 100,
  completed: 100 - failed,
  answered: 100 - failed,
  refused: 0,
  retransmissions: 0,
  core: 0.5,
  threads: [],
  rssMib: 1,
  wallMs: 1,
  invites: [],
  complaints: '',
});
const peer = (name: string, ...steps: readonly Step[]) => ({ name, found: { steps, totals: '' } });

describe('comparison of this service with its peers', () => {
  it('uses the cheapest peer that sustained the same rate without a failed call', () => {
    const ours = {
      kind: 'trunk',
      title: 'trunk',
      steps: [at(50, 3), at(100, 3), at(200, 3, 1)],
    } as const;
    const rows = comparedRows(ours, [
      peer('one', at(50, 6), at(100, 4), at(200, 9)),
      peer('other', at(50, 5), at(100, 2, 7)),
    ]);
    expect(rows.map(({ name, floor, ratio, note }) => ({ name, floor, ratio, note }))).toEqual([
      { name: 'trunk, 50/s: to the cheapest peer', floor: 5, ratio: 0.6, note: 'other' },
      { name: 'trunk, 100/s: to the cheapest peer', floor: 4, ratio: 0.75, note: 'one' },
    ]);
    expect(rows[0]?.goal).toEqual({ of: 'ratio', bound: '≤', limit: 0.35 });
  });

  it('has no row if no peer is installed', () => {
    expect(comparedRows({ kind: 'whole', title: 'whole', steps: [at(50, 3)] }, [])).toEqual([]);
  });
});

describe("a peer's program", () => {
  const said: string[] = [];
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-peers-'));
    said.length = 0;
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const file = (name: string, mode: number): string => {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), mode);
    return join(folder, name);
  };

  it('is taken from its environment variable before PATH', () => {
    const [inPath, named] = [file('anyserver', 0o755), file('another', 0o755)];
    vi.stubEnv('PATH', `/nowhere:${folder}`);
    expect(programOf('anyserver', 'BENCH_ANYSERVER')).toBe(inPath);
    vi.stubEnv('BENCH_ANYSERVER', named);
    expect(programOf('anyserver', 'BENCH_ANYSERVER')).toBe(named);
    expect(said).toEqual([]);
  });

  it('is absent, with a notice, if no program can be run', () => {
    file('anyserver', 0o644);
    vi.stubEnv('PATH', folder);
    expect(programOf('anyserver', 'BENCH_ANYSERVER')).toBeUndefined();
    expect(said).toEqual([
      'anyserver is not in PATH, and BENCH_ANYSERVER names no program: no rows of it\n',
    ]);
  });
});
