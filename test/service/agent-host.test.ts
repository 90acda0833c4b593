/** The process of the agents of applications: failed starts and bugs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import WebSocket from 'ws';
import { silentLogger } from '../../src/base/logger.ts';
import type { Application } from '../../src/domain/provisioning/types.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { AgentHost } from '../../src/service/agent-host.ts';
import { Vendor } from '../agent/vendor.ts';
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

it('a call ends as its model decided although the definition changed during the call', async () => {
  const vendor = await Vendor.listen();
  onTestFinished(() => vendor.close());
  vendor.react = ({ type }) => {
    if (type !== 'session.update') return;
    const item = { type: 'function_call', call_id: '1', name: 'bye', arguments: '{}' };
    vendor.send(
      { type: 'session.updated' },
      { type: 'response.output_item.done', item },
      { type: 'response.done', response: { status: 'completed', output: [item] } },
    );
  };
  const { host } = newHost();
  onTestFinished(() => host.stop());
  const placeOf = async (instructions: string) => {
    const definition = {
      instructions,
      model: { type: 'openai-realtime', url: vendor.url },
      tools: [{ name: 'bye', type: 'hangup', description: 'Ends the call.' }],
      fallback: { say: 'Sorry.' },
    };
    const application = { appId: 1, agent: JSON.stringify(definition) } as unknown as Application;
    const place = await host.run(application, 'http://agent');
    if (!place.ok) throw new Error(place.error);
    return place.value;
  };
  const { port, password } = await placeOf('Be brief.');
  const socket = new WebSocket(`ws://agent:${password}@127.0.0.1:${port}/stream`);
  await once(socket, 'open');
  let messages = '';
  socket.on('message', (data) => {
    messages += String(data);
  });
  socket.send(JSON.stringify({ event: 'start', start: { callId: 'c', streamId: 's' } }));
  await until(() => messages.includes('"stop"'));
  socket.terminate();

  const changed = await placeOf('Be verbose.');
  expect(changed.port).not.toBe(port);
  const response = await fetch(`http://127.0.0.1:${changed.port}/after`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`agent:${changed.password}`)}` },
    body: new URLSearchParams({ CallUUID: 'c' }),
  });
  const document = await response.text();
  expect(document).toContain('<Hangup/>');
  expect(document).not.toContain('<Speak>');
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
