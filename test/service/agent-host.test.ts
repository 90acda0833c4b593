import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import type { Application } from '../../src/domain/provisioning/types.ts';
import { AgentHost } from '../../src/service/agent-host.ts';
import { SimClock } from '../sim/clock.ts';

const APPLICATION = { appId: 1, agent: '{}' } as unknown as Application;
const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
const hostOf = (clock: SimClock, start: () => ReturnType<typeof spawn>): AgentHost =>
  new AgentHost({
    clock,
    logger: silentLogger,
    egress: { allow: [], allowLoopback: true, allowInsecure: true },
    start,
  });

it('stops after the process could not be created', async () => {
  const host = hostOf(new SimClock(), () => spawn('/nonexistent', [], { stdio: [...stdio] }));
  const running = host.run(APPLICATION, 'http://127.0.0.1');
  const stopped = host.stop();
  expect(await running).toEqual({ ok: false, error: 'the process of agents ended' });
  await stopped;
});

it('kills a process that ignores SIGTERM', async () => {
  const clock = new SimClock();
  const program =
    "process.on('SIGTERM', () => {}); process.on('message', () => process.send('up'))";
  const child = spawn(process.execPath, ['-e', program], { stdio: [...stdio] });
  const host = hostOf(clock, () => child);
  const up = once(child, 'message');
  const running = host.run(APPLICATION, 'http://127.0.0.1');
  await up;
  const stopped = host.stop();
  await clock.advance(5000);
  await stopped;
  expect(child.signalCode).toBe('SIGKILL');
  expect((await running).ok).toBe(false);
});
