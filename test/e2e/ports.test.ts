/** A port in use or a non-local address: the start prints one line that names the setting, without a stack trace. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { someOf } from '../thorough.ts';
import {
  type Environment,
  freePort,
  newPlace,
  Program,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

let place: ServicePlace;
const taken: { close(): unknown }[] = [];
afterEach(() => {
  for (const socket of taken.splice(0)) socket.close();
  removePlace(place);
});

async function takeTcp(): Promise<string> {
  // The port must be free for UDP too, so that only the tested port fails.
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  taken.push(server);
  return String(port);
}

async function takeUdp(port = 0): Promise<string> {
  const socket = createSocket('udp4');
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  taken.push(socket);
  return String(socket.address().port);
}

/** Returns the output of a failing start. */
async function refusal(more: Environment): Promise<string> {
  place = await newPlace(more);
  const program = new Program('src/main.ts', [], place.environment);
  expect(await program.exited).toBe(1);
  expect(program.output).not.toMatch(/\n\s+at |"stack"/);
  return program.stderr.trim();
}
const NOT_OURS = '192.0.2.99';

describe('a failing start prints one line', () => {
  it.each(
    someOf(
      [
        ['HTTP_PORT', takeTcp, 'HTTP address 127.0.0.1:'],
        ['SIP_PORT', takeTcp, 'SIP port TCP 127.0.0.1:'],
        ['SIP_PORT', takeUdp, 'SIP port UDP 127.0.0.1:'],
        ['SIP_TLS_PORT', takeTcp, 'SIP port TLS 127.0.0.1:'],
        ['SIP_WSS_PORT', takeTcp, 'SIP port WSS 127.0.0.1:'],
      ] as const,
      3,
    ),
  )('when another program has %s', async (setting, take, what) => {
    const name = `CARILLON_${setting}`;
    const said = await refusal({ [name]: await take() });
    expect(said.split('\n')).toHaveLength(1);
    expect(said).toContain(`carillon: ${what}`);
    expect(said).toContain(`is in use by another program; set ${name} to a free one`);
  });

  it.each(someOf(['HTTP', 'SIP', 'RTP'], 1))(
    'when the address of %s is not local',
    async (part) => {
      const said = await refusal({ [`CARILLON_${part}_HOST`]: NOT_OURS });
      expect(said.split('\n')).toHaveLength(1);
      expect(said).toContain(
        `${NOT_OURS} is not an address of this machine; set CARILLON_${part}_HOST to one`,
      );
    },
  );

  it('when every RTP port is in use', async () => {
    const port = Number(await takeUdp());
    const [low, high] = [port - (port % 2), port - (port % 2) + 1];
    const said = await refusal({
      CARILLON_RTP_PORT_MIN: String(low),
      CARILLON_RTP_PORT_MAX: String(high),
      CARILLON_RTP_ICE_PORT: '-1',
    });
    expect(said).toContain('set CARILLON_RTP_PORT_MIN and CARILLON_RTP_PORT_MAX to others');
  });
});

it('continues without an optional port and logs one line', async () => {
  const ice = await takeUdp();
  const server = createServer().on('error', () => undefined);
  // The default of sip.tlsPort. The port is in use either way if another process holds it.
  server.listen(5061, '127.0.0.1');
  taken.push(server);
  place = await newPlace({ CARILLON_SIP_TLS_PORT: '5061', CARILLON_RTP_ICE_PORT: ice });
  const service = await Service.start(place);
  await service.kill();
  const said = service.program.stdout.split('\n').filter((line) => line.includes('"warn"'));
  expect(said.find((line) => line.includes('SIP port TLS'))).toContain(
    'left out: SIP port TLS 127.0.0.1:5061 is in use by another program; set CARILLON_SIP_TLS_PORT',
  );
  expect(said.find((line) => line.includes('port for browsers'))).toContain(
    `127.0.0.1:${ice} is in use by another program; set CARILLON_RTP_ICE_PORT to a free one`,
  );
  expect(service.program.output).not.toMatch(/"stack"/);
});
