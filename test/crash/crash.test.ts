import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seededRandom, withFolder } from '../edge/store/open.ts';
import { isThorough, someOf } from '../thorough.ts';
import { contentOf, flip, prepareFlips, TARGETS } from './bit-flips.ts';
import { dialUntilKilled, findCampaignFaults, prepareCampaign } from './campaigns.ts';
import { billUntilKilled, findFaults, prepare } from './crash.ts';
import { ALL_LATER, atEachOperation } from './disk-faults.ts';
import { atPowerLosses, buildWriteLog, powerLossMissing, record } from './power-loss.ts';

it('kill -9 during billing loses no answered call and no money, at several moments', async () => {
  await withFolder(async (folder) => {
    await prepare(folder);
    for (const [round, lines] of someOf([0, 1, 17, 120, 333], 3).entries()) {
      const witness = await billUntilKilled(folder, round, lines);
      if (lines > 10) expect(witness.settled.length).toBeGreaterThan(0);
      expect(await findFaults(folder, witness)).toEqual([]);
    }
  });
});

it.skipIf(powerLossMissing !== undefined).each(['normal', 'full'] as const)(
  `a power failure leaves correct books; with store.synchronous=%s ${powerLossMissing ?? ''}`,
  async (synchronous) => {
    await withFolder(async (workspace) => {
      const folder = join(workspace, 'data');
      mkdirSync(folder);
      await prepare(folder);
      const library = buildWriteLog(workspace);
      const recorded = await record(folder, { library, workspace, lines: 120, synchronous });
      const random = seededRandom(7);
      const target = join(workspace, 'after');
      let settled = 0;
      await atPowerLosses(
        recorded,
        { points: isThorough ? 6 : 3, target, random },
        async (after, witness) => {
          settled = witness.settled.length;
          // With `normal`, the last commits may be lost, but never a part of one.
          const seen = synchronous === 'full' ? witness : { answered: [], settled: [] };
          expect(await findFaults(after, seen)).toEqual([]);
        },
      );
      expect(settled).toBeGreaterThan(10);
    });
  },
);

it.skipIf(powerLossMissing !== undefined)(
  `a failed write or sync, alone or with all later ones, is reported and leaves correct books ${powerLossMissing ?? ''}`,
  async () => {
    await withFolder(async (workspace) => {
      const clean = join(workspace, 'clean');
      mkdirSync(clean);
      await prepare(clean);
      const library = buildWriteLog(workspace);
      let reports = 0;
      const options = {
        clean,
        kind: 'EIO',
        count: ALL_LATER,
        calls: 2,
        step: isThorough ? 71 : 142,
        from: 25,
      } as const;
      await atEachOperation(workspace, library, options, ({ faults, reported }) => {
        expect(faults).toEqual([]);
        reports += reported.length;
      });
      expect(reports).toBeGreaterThan(0);
    });
  },
);

it('kill -9 during a campaign keeps all contacts, and repeats only interrupted calls without counting an attempt', async () => {
  await withFolder(async (folder) => {
    await prepare(folder);
    await prepareCampaign(folder, 5000);
    const said: string[] = [];
    for (const lines of someOf([0, 1, 9, 60, 250], 3)) {
      said.push(...(await dialUntilKilled(folder, lines)));
      expect(await findCampaignFaults(folder, said)).toEqual([]);
    }
    expect(said.length).toBeGreaterThan(200);
  });
});

it.each(['killed', 'stopped'] as const)(
  'a bit flip in a file of a %s process is reported, or changes no row',
  async (state) => {
    await withFolder(async (workspace) => {
      const folders = { killed: join(workspace, 'killed'), stopped: join(workspace, 'stopped') };
      await prepareFlips(folders.killed, folders.stopped);
      const folder = folders[state];
      const random = seededRandom(5);
      const intact = await contentOf(folder, workspace);
      const outcomes = new Set<string>();
      for (const target of someOf(TARGETS, 4)) {
        const flipped = await flip(folder, { workspace, target, random, intact });
        expect(flipped).not.toMatchObject({ outcome: 'silent' });
        outcomes.add(flipped.outcome);
      }
      expect(outcomes).toContain('refused');
    });
  },
);
