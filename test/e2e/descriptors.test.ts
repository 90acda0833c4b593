/** A node that runs out of file descriptors reports it on /readyz, and serves again once they are free. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

let place: ServicePlace;
let service: Service | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service?.kill();
  removePlace(place);
});

const SPARE = 60;
const CONNECTIONS = 120;

async function openConnections(port: number): Promise<void> {
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    sockets.push(socket);
  }
}

it('file descriptors that run out make the node not ready, with the cause', async () => {
  place = await newPlace();
  service = await Service.start(place);
  const { pid } = service.program.child;
  const open = readdirSync(`/proc/${pid}/fd`).length;
  const limited = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${open + SPARE}:`]);
  expect(limited.status).toBe(0);
  // The service reads its limit twice a second.
  const requested = service;
  await eventually(
    'the new limit',
    async () =>
      (await requested.get('/metrics')).text.includes(
        `voice_descriptors_limit ${open + SPARE}\n`,
      ) || undefined,
  );
  await openConnections(service.sipPort);
  const refusal = await eventually('503', async () => {
    const answer = await requested.get('/readyz');
    return answer.status === 503 ? answer : undefined;
  });
  expect(refusal.text).toContain('file descriptors run out');
  expect(refusal.text).toContain('descriptors');
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually('200', async () => (await requested.get('/readyz')).status === 200 || undefined);
});
