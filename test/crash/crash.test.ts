import { expect, it } from 'vitest';
import { withFolder } from '../edge/store/open.ts';
import { dialUntilKilled, findCampaignFaults, prepareCampaign } from './campaigns.ts';
import { billUntilKilled, findFaults, prepare } from './crash.ts';

it('kill -9 during billing loses no answered call and no money, at several moments', async () => {
  await withFolder(async (folder) => {
    await prepare(folder);
    for (const [round, lines] of [0, 1, 17, 120, 333].entries()) {
      const witness = await billUntilKilled(folder, round, lines);
      if (lines > 10) expect(witness.settled.length).toBeGreaterThan(0);
      expect(await findFaults(folder, witness)).toEqual([]);
    }
  });
});

it('kill -9 during a campaign keeps all contacts, and repeats only interrupted calls without counting an attempt', async () => {
  await withFolder(async (folder) => {
    await prepare(folder);
    await prepareCampaign(folder, 5000);
    const said: string[] = [];
    for (const lines of [0, 1, 9, 60, 250]) {
      said.push(...(await dialUntilKilled(folder, lines)));
      expect(await findCampaignFaults(folder, said)).toEqual([]);
    }
    expect(said.length).toBeGreaterThan(200);
  });
});
