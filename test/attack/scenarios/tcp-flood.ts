import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { systemRandom as random } from '../../../src/base/system-random.ts';
import { systemClock as clock } from '../../../src/edge/clock/system-clock.ts';
import { SipLine } from '../../../src/phone/sip-line.ts';
import { makeUser } from '../../e2e/phone.ts';
import { datagram } from '../datagrams.ts';
import type { Scenario } from '../scenario.ts';
import { manySources } from '../udp-flood.ts';

const EVERY_MS = 2;
const MOST = 20_000;
const SOURCES = manySources(50);
const REGISTER_EVERY_MS = 250;

export const scenario: Scenario = {
  about: 'TCP connections to the SIP port: idle, with half a message, with repeated INVITEs',
  async attack({ service, over }) {
    const user = await makeUser(service, 'overtcp', { answer_url: 'http://127.0.0.1:9/' });
    const sockets = new Set<Socket>();
    let opened = 0;
    const flood = async (): Promise<void> => {
      for (; !over.aborted && opened < MOST; opened += 1) {
        open(service.sipPort, opened, sockets);
        await pause(EVERY_MS);
      }
    };
    const registered: boolean[] = [];
    const register = async (): Promise<void> => {
      while (!over.aborted) {
        const { sipPort: port } = service;
        const options = { ...user, host: '127.0.0.1', port, clock, random } as const;
        const line = await SipLine.open({ ...options, transport: 'tcp' });
        registered.push(
          await line.register().then(
            () => true,
            () => false,
          ),
        );
        await line.close();
        await pause(REGISTER_EVERY_MS);
      }
    };
    let left = 0;
    try {
      await Promise.all([flood(), register()]);
    } finally {
      left = sockets.size;
      for (const socket of sockets) socket.destroy();
    }
    return [
      { name: 'connections opened', value: opened, unit: '' },
      { name: 'of them open at the end', value: left, unit: '' },
      {
        name: 'legitimate REGISTERs over TCP that succeeded',
        value: (100 * registered.filter(Boolean).length) / registered.length,
        unit: '%',
        atLeast: 99,
      },
    ];
  },
};

function open(port: number, number: number, sockets: Set<Socket>): void {
  // Half of the connections share the address of legitimate phones.
  const address =
    number % 2 === 0 ? '127.0.0.1' : (SOURCES[number % SOURCES.length] ?? '127.0.0.2');
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(socket));
  socket.resume();
  const facts = { address, ownPort: 5060, port, number, username: 'overtcp', realm: '' };
  const invite = datagram('invite', facts);
  if (number % 3 === 1) socket.write(invite.subarray(0, 100));
  if (number % 3 === 2)
    for (let n = 0; n < 20; n += 1)
      socket.write(datagram('invite', { ...facts, number: number * 20 + n }));
}
