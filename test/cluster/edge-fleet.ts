/** Edges in front of a fleet as configured in `deploy/kamailio/` (TLS, WSS, topology hiding), and a DNS server for them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Defines, Edge, tlsFile } from '../deploy/kamailio.ts';
import { freePort } from '../e2e/service.ts';
import { certificate } from '../edge/sip/certificates.ts';
import { eventually } from '../eventually.ts';
import { HAS_NETWORK } from './fleet.ts';

/** Domain that phones resolve. */
export const NAME = 'sip.example.test';
export const NAME_SERVER = '127.0.0.53';

export interface EdgePlace {
  /** Address for phones. */
  readonly outside: string;
  /** Address for nodes. Phones and carriers never see it. */
  readonly inside: string;
}

interface Ports {
  readonly sip: number;
  readonly tls: number;
  readonly ws: number;
  readonly wss: number;
  readonly rpc: number;
  readonly inside: number;
}

/** Returns the default ports in a separate network namespace, free ports otherwise. */
export async function frontPorts(): Promise<Ports> {
  if (HAS_NETWORK) return { sip: 5060, tls: 5061, ws: 5066, wss: 7443, rpc: 5071, inside: 5070 };
  const six = [];
  while (six.length < 6) six.push(await freePort());
  const [sip = 0, tls = 0, ws = 0, wss = 0, rpc = 0, inside = 0] = six;
  return { sip, tls, ws, wss, rpc, inside };
}

export class Front {
  readonly folder = mkdtempSync(join(tmpdir(), 'carillon-front-'));
  readonly places: readonly EdgePlace[];
  readonly ports: Ports;
  readonly edges: Edge[] = [];
  authorityFile = '';
  #names: ChildProcess | undefined;

  constructor(places: readonly EdgePlace[], ports: Ports) {
    this.places = places;
    this.ports = ports;
  }

  /** Starts the edges. `nodes` lists host:port of each node. */
  async start(nodes: readonly string[], more: Defines = {}): Promise<void> {
    const authority = await certificate([]);
    const own = await certificate([NAME, ...this.places.map(({ outside }) => outside)], authority);
    const write = (name: string, text: string): string => {
      const path = join(this.folder, name);
      writeFileSync(path, text);
      return path;
    };
    this.authorityFile = write('ca.crt', authority.cert);
    const files = { certFile: write('edge.crt', own.cert), keyFile: write('edge.key', own.key) };
    const tls = { WITH_TLS: '', TLS_FILE: tlsFile(this.folder, files) };
    for (const at of this.places.keys())
      this.edges.push(await this.#edge(at, nodes, { ...tls, ...more }));
    await this.areWell();
  }

  /** Waits until every edge lists all nodes as active. */
  async areWell(): Promise<void> {
    for (const [at, { inside }] of this.places.entries())
      await eventually(`nodes of edge ${at}: ${this.edges[at]?.said}`, async () => {
        const flags = Object.values((await this.edges[at]?.nodes(inside)) ?? {});
        return flags.every((flag) => flag.startsWith('A')) || undefined;
      });
  }

  #edge(at: number, nodes: readonly string[], more: Defines): Promise<Edge> {
    const { sip, tls, ws, wss, rpc, inside } = this.ports;
    const { outside, inside: address } = this.places[at] as EdgePlace;
    const others = this.places.filter((_, other) => other !== at);
    const folder = join(this.folder, `edge${at + 1}`);
    mkdirSync(folder);
    return Edge.start(folder, nodes, {
      PUBLIC_ADDRESS: outside,
      PUBLIC_PORT: sip,
      TLS_PORT: tls,
      WS_PORT: ws,
      WSS_PORT: wss,
      PRIVATE_ADDRESS: address,
      PRIVATE_PORT: inside,
      PRIVATE_HTTP_PORT: rpc,
      ...(others.length > 0 && {
        OTHER_EDGES: others.map((one) => `udp:${one.inside}:${inside}`).join(' '),
      }),
      ...more,
    });
  }

  /** Kamailio resolves its own name at startup. Adds the name to the hosts file in the test's mount namespace. */
  #inHosts(): void {
    const path = join(this.folder, 'hosts');
    const own = this.places.map(({ outside }) => `${outside} ${NAME}\n`);
    writeFileSync(path, `${readFileSync('/etc/hosts', 'utf8')}\n${own.join('')}`);
    const { status, stderr } = spawnSync('mount', ['--bind', path, '/etc/hosts']);
    if (status !== 0) throw new Error(`mount: ${stderr}`);
  }

  /** Serves SRV records of the edges on port 53 of `NAME_SERVER`. The first edge has the highest priority. */
  async named(): Promise<void> {
    this.#inHosts();
    const { sip, tls } = this.ports;
    const srv = (service: string, port: number): readonly string[] =>
      this.places.map(
        (_, at) => `--srv-host=${service}.${NAME},edge${at + 1}.${NAME},${port},${10 * (at + 1)},0`,
      );
    const args = [
      ...['--keep-in-foreground', '--no-resolv', '--no-hosts', '--conf-file=/dev/null'],
      ...['--pid-file=', '--user=root', '--bind-interfaces', `--listen-address=${NAME_SERVER}`],
      ...[...srv('_sip._udp', sip), ...srv('_sip._tcp', sip), ...srv('_sips._tcp', tls)],
      ...this.places.map(({ outside }, at) => `--host-record=edge${at + 1}.${NAME},${outside}`),
      ...this.places.map(({ outside }) => `--host-record=${NAME},${outside}`),
    ];
    const child = spawn('dnsmasq', args, { stdio: 'ignore' });
    await once(child, 'spawn');
    this.#names = child;
  }

  async stop(): Promise<void> {
    await Promise.all(this.edges.map((edge) => edge.stop()));
    if (this.#names?.exitCode === null) {
      const gone = once(this.#names, 'close');
      this.#names.kill('SIGKILL');
      await gone;
    }
    if (this.#names !== undefined) spawnSync('umount', ['/etc/hosts']);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
