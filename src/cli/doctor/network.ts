/** Checks of the network: ports, the advertised address, DNS and carriers. */
import { createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { connect, createServer, isIP } from 'node:net';
import type { Settings } from '../../config/schema.ts';
import type { NewCarrier } from '../../domain/provisioning/provisioning.ts';
import {
  abortedWithin,
  type Finding,
  good,
  problem,
  reasonOf,
  skipped,
  within,
} from './finding.ts';

/** Number of RTP ports to probe, spread over the range. */
const RTP_TRIES = 20;
const SIP_PORT = 5060;

/** Checks that the service could open its ports. Call it only when the service is not running. */
export async function checkPorts({ http, sip, rtp }: Settings): Promise<readonly Finding[]> {
  const step = Math.max(1, Math.floor((rtp.portMax - rtp.portMin) / RTP_TRIES));
  const findings = [
    await tried('http port', http.host, http.port, tcpFault),
    await tried('sip port (UDP)', sip.host, sip.port, udpFault),
    await tried('sip port (TCP)', sip.host, sip.port, tcpFault),
  ];
  const taken: number[] = [];
  for (let port = rtp.portMin; port <= rtp.portMax; port += step) {
    if ((await udpFault(rtp.host, port)) !== undefined) taken.push(port);
  }
  if (taken.length === 0) {
    findings.push(good('rtp ports', `${rtp.portMin} to ${rtp.portMax} on ${rtp.host}`));
  } else {
    findings.push(
      problem(
        'rtp ports',
        `${taken.join(', ')} of ${rtp.portMin} to ${rtp.portMax} cannot be opened on ${rtp.host}`,
        'Another program uses them (see ss -lunp), or rtp.host is not an address of this machine. Choose another range or host.',
      ),
    );
  }
  return findings;
}

async function tried(
  check: string,
  host: string,
  port: number,
  fault: (host: string, port: number) => Promise<string | undefined>,
): Promise<Finding> {
  const code = await fault(host, port);
  if (code === undefined) return good(check, `${host}:${port} is free`);
  const advice =
    code === 'EACCES'
      ? 'Ports below 1024 need AmbientCapabilities=CAP_NET_BIND_SERVICE; the installed unit sets it.'
      : code === 'EADDRNOTAVAIL'
        ? 'The configured host is not an address of this machine. List them with ip address; 0.0.0.0 means all.'
        : 'Another program uses it (see ss -lnp), or the service runs with another data folder: use --data-dir.';
  return problem(check, `${host}:${port} cannot be opened: ${code}`, advice);
}

async function tcpFault(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? reasonOf(error);
  } finally {
    server.close();
  }
}

async function udpFault(host: string, port: number): Promise<string | undefined> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.bind(port, host);
    await once(socket, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? reasonOf(error);
  } finally {
    socket.close();
  }
}

export async function checkDns(servers = dns.getServers()): Promise<Finding> {
  if (servers.length === 0)
    return problem(
      'dns',
      'no DNS server is configured',
      'Add one to /etc/resolv.conf. The service resolves host names of carriers and customers.',
    );
  try {
    const resolver = new dns.Resolver({ timeout: 2000, tries: 2 });
    resolver.setServers(servers);
    await within(resolver.resolveNs('.'));
    return good('dns', `${servers.join(', ')} answers`);
  } catch (error) {
    // An error response shows that the server works: some servers do not resolve the root.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA' || code === 'EREFUSED' || code === 'ENOTFOUND')
      return good('dns', `${servers.join(', ')} answers`);
    return problem(
      'dns',
      `${servers.join(', ')}: ${reasonOf(error)}`,
      'Answer URLs and carriers with names cannot be reached: correct /etc/resolv.conf, or allow outbound UDP port 53.',
    );
  }
}

export async function checkCarriers(carriers: readonly NewCarrier[]): Promise<readonly Finding[]> {
  if (carriers.length === 0)
    return [skipped('carriers', 'no carriers: calls reach SIP endpoints and SIP addresses only')];
  return Promise.all(carriers.map(checkCarrier));
}

async function checkCarrier({ name, host, port, transport }: NewCarrier): Promise<Finding> {
  const check = `carrier ${name}`;
  const usesUdp = transport === undefined || transport === 'udp';
  try {
    const target = await within(locate(host, port ?? undefined, usesUdp));
    const said = usesUdp
      ? await within(askOptions(target.host, target.port, host))
      : await abortedWithin((signal) => connected(target.host, target.port, signal));
    return good(check, `${target.host}:${target.port} ${said}`);
  } catch (error) {
    return problem(
      check,
      `${host}: ${reasonOf(error)}`,
      `Check host, port and transport, and allow outbound ${usesUdp ? 'UDP' : 'TCP'}. If the carrier answers known addresses only, register the address of this machine with it.`,
    );
  }
}

async function locate(host: string, port: number | undefined, usesUdp: boolean) {
  if (port !== undefined || isIP(host) !== 0) return { host, port: port ?? SIP_PORT };
  const found = await dns.resolveSrv(`_sip._${usesUdp ? 'udp' : 'tcp'}.${host}`).catch(() => []);
  const [first] = found.sort((a, b) => a.priority - b.priority || b.weight - a.weight);
  return first === undefined ? { host, port: SIP_PORT } : { host: first.name, port: first.port };
}

async function connected(host: string, port: number, signal: AbortSignal): Promise<string> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal });
    return 'accepts connections';
  } finally {
    socket.destroy();
  }
}

/** Sends one OPTIONS request (RFC 3261 §11) with UDP retransmissions from a separate port. Accepts any response. */
async function askOptions(host: string, port: number, domain: string): Promise<string> {
  const { address, family } = await dns.lookup(host);
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  let again: NodeJS.Timeout | undefined;
  try {
    socket.connect(port, address);
    await once(socket, 'connect');
    const own = socket.address();
    const from = `${own.family === 'IPv6' ? `[${own.address}]` : own.address}:${own.port}`;
    const id = Math.floor(performance.now() * 1e6).toString(36);
    const request = [
      `OPTIONS sip:${domain} SIP/2.0`,
      `Via: SIP/2.0/UDP ${from};branch=z9hG4bK${id};rport`,
      'Max-Forwards: 70',
      `From: <sip:doctor@${from}>;tag=${id}`,
      `To: <sip:${domain}>`,
      `Call-ID: ${id}@${from}`,
      'CSeq: 1 OPTIONS',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n');
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(4000) });
    socket.send(request);
    again = setInterval(() => socket.send(request), 1000);
    const [message] = (await answered) as [Buffer];
    const [line = ''] = message.toString('latin1').split('\r\n', 1);
    if (!line.startsWith('SIP/2.0 ')) throw new Error('the response is not SIP');
    return `answers ${line.slice('SIP/2.0 '.length)}`;
  } catch (error) {
    if ((error as Error).name === 'AbortError')
      throw new Error('no answer to OPTIONS within 4 s', { cause: error });
    throw error;
  } finally {
    clearInterval(again);
    socket.close();
  }
}
