/** The process of the agents of applications: failed starts and bugs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import type { Application } from '../../src/domain/provisioning/types.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { AgentHost } from '../../src/service/agent-host.ts';
import { until } from '../eventually.ts';
import { SimClock } from '../sim/clock.ts';

const DEFINITION = {
  instructions: 'x',
  model: { type: 'openai-realtime', url: 'ws://localhost:1/' },
};
const APPLICATION = { appId: 1, agent: JSON.stringify(DEFINITION) } as unknown as Application;

function newHost() {
  const warnings: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (fields: object) => warnings.push(JSON.stringify(fields)),
  };
  const egress = { allow: [], allowLoopback: true, allowInsecure: true };
  const host = new AgentHost({ clock, logger, egress });
  return { host, warnings, run: () => host.run(APPLICATION, 'http://agent') };
}

it('a process that cannot be started fails the request, and the service still stops', async () => {
  const node = process.execPath;
  onTestFinished(() => {
    process.execPath = node;
  });
  process.execPath = '/nonexistent/node';
  const { host, run } = newHost();
  expect(await run()).toMatchObject({ ok: false });
  process.execPath = node;
  expect(await run()).toMatchObject({ ok: true });
  process.execPath = '/nonexistent/node';
  const other = newHost();
  expect(await other.run()).toMatchObject({ ok: false });
  await Promise.all([host.stop(), other.host.stop()]);
});

it('an unhandled rejection does not end the calls of all agents', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'bug.mjs');
  writeFileSync(file, `process.once('message', () => Promise.reject(new Error('planted')));`);
  vi.stubEnv('NODE_OPTIONS', `--import=${file}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { host, warnings, run } = newHost();
  const first = await run();
  expect(first).toMatchObject({ ok: true });
  await until(() => warnings.some((line) => line.includes('Error: planted')));
  expect(await run()).toEqual(first);
  await host.stop();
});

const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
const hostOf = (simulated: SimClock, start: () => ReturnType<typeof spawn>): AgentHost =>
  new AgentHost({
    clock: simulated,
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
  const simulated = new SimClock();
  const program =
    "process.on('SIGTERM', () => {}); process.on('message', () => process.send('up'))";
  const child = spawn(process.execPath, ['-e', program], { stdio: [...stdio] });
  const host = hostOf(simulated, () => child);
  const up = once(child, 'message');
  const running = host.run(APPLICATION, 'http://127.0.0.1');
  await up;
  const stopped = host.stop();
  await simulated.advance(5000);
  await stopped;
  expect(child.signalCode).toBe('SIGKILL');
  expect((await running).ok).toBe(false);
});
