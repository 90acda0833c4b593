/** Ports, the address that peers are told, DNS and carriers. */
import { createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { connect, createServer, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Settings } from '../../config/schema.ts';
import type { NewCarrier } from '../../domain/provisioning/provisioning.ts';
import { type Finding, good, problem, reasonOf, skipped, warning, within } from './finding.ts';

/** RTP ports that are tried, spread over the range. */
const RTP_TRIES = 20;
const SIP_PORT = 5060;

/** Ports that the service would open; it does not run. */
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
        'Another program uses them, or rtp.host is no address of this machine: ss -lunp shows who; choose another range.',
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
      ? 'Ports below 1024 need AmbientCapabilities=CAP_NET_BIND_SERVICE, which the installed unit has.'
      : code === 'EADDRNOTAVAIL'
        ? 'The host in the settings is no address of this machine: ip address shows which there are; 0.0.0.0 means all.'
        : 'Another program uses it (ss -lnp shows which), or the service runs with another data folder: give --data-dir.';
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

export async function checkPublicAddress(settings: Settings): Promise<readonly Finding[]> {
  const { sip, rtp } = settings;
  return [
    await toldAddress('sip address', sip.publicHost || sip.host, 'sip.publicHost', true),
    await toldAddress('rtp address', rtp.publicHost || rtp.host, 'rtp.publicHost', false),
  ];
}

async function toldAddress(
  check: string,
  host: string,
  setting: string,
  mayBeName: boolean,
): Promise<Finding> {
  if (host === '0.0.0.0' || host === '::') {
    return problem(
      check,
      `it listens on every address, but peers are told 127.0.0.1`,
      `Set ${setting} to the address under which phones and carriers reach this machine; behind NAT the public one.`,
    );
  }
  let address = host;
  if (isIP(host) === 0) {
    if (!mayBeName)
      return problem(
        check,
        `${setting} is the name ${host}`,
        'SDP wants an address: write the IP address.',
      );
    try {
      ({ address } = await within(dns.lookup(host)));
    } catch (error) {
      const advice = `Peers cannot find this machine: make a DNS record for ${host}, or write its IP address.`;
      return problem(check, `${host} is not found: ${reasonOf(error)}`, advice);
    }
  }
  const shown = address === host ? host : `${host} (${address})`;
  if (address.startsWith('127.') || address === '::1')
    return warning(
      check,
      `${shown}: this machine alone`,
      `For phones elsewhere set ${setting} and the host beside it.`,
    );
  const own = Object.values(networkInterfaces()).flatMap((list) =>
    list?.map((each) => each.address),
  );
  if (own.includes(address)) return good(check, `${shown}, an address of this machine`);
  return warning(
    check,
    `${shown} is no address of this machine: it stands behind NAT`,
    'The router must hand on SIP (UDP and TCP) and the whole RTP range with the same port numbers: docs/operate/install.md.',
  );
}

export async function checkDns(servers = dns.getServers()): Promise<Finding> {
  if (servers.length === 0)
    return problem(
      'dns',
      'no server is configured',
      'Put one into /etc/resolv.conf: names of carriers and customers are looked up.',
    );
  try {
    const resolver = new dns.Resolver({ timeout: 2000, tries: 2 });
    resolver.setServers(servers);
    await within(resolver.resolveNs('.'));
    return good('dns', `${servers.join(', ')} answers`);
  } catch (error) {
    // A refusal is an answer: some servers do not serve the root.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA' || code === 'EREFUSED' || code === 'ENOTFOUND')
      return good('dns', `${servers.join(', ')} answers`);
    return problem(
      'dns',
      `${servers.join(', ')}: ${reasonOf(error)}`,
      'Answer URLs and carriers with names cannot be reached: correct /etc/resolv.conf, or let UDP port 53 out.',
    );
  }
}

export async function checkCarriers(carriers: readonly NewCarrier[]): Promise<readonly Finding[]> {
  if (carriers.length === 0)
    return [skipped('carriers', 'there is none: calls reach SIP endpoints and addresses only')];
  return Promise.all(carriers.map(checkCarrier));
}

async function checkCarrier({ name, host, port, transport }: NewCarrier): Promise<Finding> {
  const check = `carrier ${name}`;
  const usesUdp = transport === undefined || transport === 'udp';
  try {
    const target = await within(locate(host, port ?? undefined, usesUdp));
    const said = usesUdp
      ? await within(askOptions(target.host, target.port, host))
      : await within(connected(target.host, target.port));
    return good(check, `${target.host}:${target.port} ${said}`);
  } catch (error) {
    return problem(
      check,
      `${host}: ${reasonOf(error)}`,
      `Check host, port and transport; let ${usesUdp ? 'UDP' : 'TCP'} out and its answers in; some carriers answer known addresses only: tell yours the address of this machine.`,
    );
  }
}

async function locate(host: string, port: number | undefined, usesUdp: boolean) {
  if (port !== undefined || isIP(host) !== 0) return { host, port: port ?? SIP_PORT };
  const found = await dns.resolveSrv(`_sip._${usesUdp ? 'udp' : 'tcp'}.${host}`).catch(() => []);
  const [first] = found.sort((a, b) => a.priority - b.priority || b.weight - a.weight);
  return first === undefined ? { host, port: SIP_PORT } : { host: first.name, port: first.port };
}

async function connected(host: string, port: number): Promise<string> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return 'accepts connections';
  } finally {
    socket.destroy();
  }
}

/** One OPTIONS (RFC 3261 §11) from a port of its own, sent again as UDP wants it. Any answer will do. */
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
    if (!line.startsWith('SIP/2.0 ')) throw new Error('what answers does not speak SIP');
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
