/** The least that a call's messages cost: as many datagrams over bare `node:dgram`, and SIPp's own two ends with nothing between. */
import { type ChildProcess, fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuOf } from './accounting.ts';
import { HOST } from './sipp.ts';

/** Messages of both legs; as many are received as sent. */
export const MESSAGES = 14;
const MESSAGE_BYTES = 600;
const RATE = 100;

/** Milliseconds of CPU for the messages of one call, at 100 calls a second. */
export async function datagramFloor(seconds: number): Promise<number> {
  const echo = fork(fileURLToPath(new URL('./echo.ts', import.meta.url)), []);
  const [port] = (await once(echo, 'message')) as [number];
  const socket = createSocket('udp4');
  try {
    const before = cpuOf(echo.pid ?? 0).ms;
    await send(socket, port, seconds);
    return (cpuOf(echo.pid ?? 0).ms - before) / (RATE * seconds);
  } finally {
    socket.close();
    await stop(echo);
  }
}

async function send(socket: ReturnType<typeof createSocket>, port: number, seconds: number) {
  const message = Buffer.alloc(MESSAGE_BYTES, 'x');
  const startedMs = performance.now();
  const total = (RATE * seconds * MESSAGES) / 2;
  for (let sent = 0; sent < total; ) {
    const due = ((performance.now() - startedMs) / 1000) * RATE * (MESSAGES / 2);
    for (; sent < Math.min(due, total); sent += 1) socket.send(message, port, HOST);
    await pause(1);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}
