/** Echoes every datagram. Runs as a separate process on the measured core. */
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';

spawnSync('taskset', ['-a', '-c', '-p', '0', String(process.pid)]);
const socket = createSocket('udp4');
socket.on('message', (message, from) => socket.send(message, from.port, from.address));
socket.bind(0, '127.0.0.1', () => process.send?.(socket.address().port));
