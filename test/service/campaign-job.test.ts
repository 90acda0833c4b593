import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import type { Dialer } from '../../src/domain/campaign/campaign.ts';
import { CampaignJob } from '../../src/service/campaign-job.ts';
import { openStage } from '../domain/campaign/stage.ts';

const HOUR_MS = 3_600_000;

it('passes to another node when the calls of a draining node have ended', async () => {
  const stage = await openStage();
  const nodeOf = async (id: string, dialer: Dialer) => {
    const epoch = await stage.store.nodes.begin(id, false);
    const { nodes } = stage.store.as({ id, epoch });
    const admission = { draining: false };
    const { clock } = stage;
    const living = () => ['a', 'b'];
    const parts = { nodes, dialer, admission, clock, logger: silentLogger, living };
    const job = new CampaignJob(parts);
    const drain = (): void => {
      admission.draining = true;
      dialer.drain();
      job.release();
    };
    return { job, drain };
  };
  const first = await nodeOf('a', stage.dialer);
  const second = await nodeOf('b', stage.newDialer());
  await first.job.take();
  stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: HOUR_MS }]);
  const campaign = await stage.ready({ maxConcurrent: 1 }, 2);
  await stage.start(campaign);
  await stage.clock.advance(0);
  expect(stage.calls.dialled).toHaveLength(1);

  first.drain();
  await second.job.take();
  await stage.clock.advance(HOUR_MS / 2);
  expect(await stage.store.nodes.holder('campaigns')).toMatchObject({ id: 'a' });

  first.job.start();
  second.job.start();
  await stage.clock.advance(HOUR_MS / 2 + 10_000);
  expect(await stage.store.nodes.holder('campaigns')).toMatchObject({ id: 'b' });
  await stage.clock.advance(2 * HOUR_MS);
  expect(await stage.state(campaign)).toBe('completed');
  expect(stage.calls.dialled).toHaveLength(2);
  await first.job.stop();
  await second.job.stop();
});
