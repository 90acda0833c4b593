/** UDP and TCP of SIP on one port of 127.0.0.1. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, connect as openTcp, type Server, type Socket } from 'node:net';
import type { Flow } from '../../src/protocol/sip/transport/flow.ts';
import { StreamFramer } from '../../src/protocol/sip/transport/framer.ts';
import { parseUri } from '../../src/protocol/sip/uri.ts';

type Received = (bytes: Uint8Array, flow: Flow) => void;

/** Maximum number of ports to try when the system chooses them. */
const ATTEMPTS = 5;

export class SipPorts {
  readonly #received: Received;
  readonly #udp: UdpSocket;
  readonly #tcp: Server;
  readonly #streams = new Map<number, Socket>();
  #lastId = 0;

  private constructor(received: Received) {
    this.#received = received;
    this.#udp = createSocket('udp4', (bytes, { address, port }) =>
      received(bytes, flowOf('udp', address, port, undefined)),
    );
    this.#tcp = createServer((socket) => this.#stream(socket));
  }

  static async open(port: number, received: Received): Promise<SipPorts> {
    for (let attempt = 1; ; attempt += 1) {
      const ports = new SipPorts(received);
      ports.#udp.bind(port, '127.0.0.1');
      await once(ports.#udp, 'listening');
      ports.#tcp.listen(ports.port, '127.0.0.1');
      try {
        await once(ports.#tcp, 'listening');
        return ports;
      } catch (error) {
        // Another process has a TCP connection with the port that this UDP socket was given.
        ports.#udp.close();
        if (port !== 0 || attempt === ATTEMPTS) throw error;
      }
    }
  }

  get port(): number {
    return this.#udp.address().port;
  }

  send(bytes: Uint8Array, { transport, remoteAddress, remotePort, connectionId }: Flow): void {
    if (transport === 'udp') this.#udp.send(bytes, remotePort, remoteAddress);
    else this.#streams.get(connectionId ?? 0)?.write(bytes);
  }

  /** Over a connection that is there, or a new one. */
  flowTo(uriText: string): Flow {
    const uri = parseUri(uriText);
    if (uri?.kind !== 'sip') throw new Error(`no way to ${uriText}`);
    const { host, port = 5060 } = uri;
    if (uri.params.get('transport') !== 'tcp') return flowOf('udp', host, port, undefined);
    const [known] = [...this.#streams].find(([, { remotePort }]) => remotePort === port) ?? [];
    return flowOf('tcp', host, port, known ?? this.#stream(openTcp(port, host)));
  }

  close(): void {
    this.#udp.close();
    this.#tcp.close();
    for (const socket of this.#streams.values()) socket.destroy();
  }

  #stream(socket: Socket): number {
    this.#lastId += 1;
    const id = this.#lastId;
    const framer = new StreamFramer();
    this.#streams.set(id, socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#streams.delete(id));
    socket.on('data', (chunk) => {
      const { remoteAddress = '', remotePort = 0 } = socket;
      const flow = flowOf('tcp', remoteAddress, remotePort, id);
      for (const item of framer.push(chunk)) {
        if (item.kind === 'message') this.#received(item.bytes, flow);
      }
    });
    return id;
  }
}

const flowOf = (
  transport: 'udp' | 'tcp',
  remoteAddress: string,
  remotePort: number,
  connectionId: number | undefined,
): Flow => ({
  transport,
  localAddress: '127.0.0.1',
  localPort: 0,
  remoteAddress,
  remotePort,
  connectionId,
});
