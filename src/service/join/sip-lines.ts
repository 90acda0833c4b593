/** Composes SIP: sockets, certificates, message traces and the proofs of caller identities. */
import { isIP, isIPv6 } from 'node:net';
import type { DestinationGuard } from '../../base/egress.ts';
import { ServiceError } from '../../base/errors.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { SETTINGS, type Settings } from '../../config/schema.ts';
import type { CallerProofs } from '../../domain/call/needs.ts';
import type { NewCalls } from '../../domain/capacity/capacity.ts';
import { edgePlaces } from '../../edge/sip/edges.ts';
import {
  DEFAULT_REGISTRAR_LIMITS,
  DEFAULT_STREAM_LIMITS,
  type RunningSignalling,
  TlsIdentity,
} from '../../edge/sip/signalling.ts';
import { createSignalling } from '../../edge/sip/signalling-service.ts';
import { HepExporter } from '../../edge/sip/trace/hep-exporter.ts';
import { MessageRing } from '../../edge/sip/trace/message-ring.ts';
import type { WireFactory } from '../../edge/sip/wire.ts';
import type { CustomerHttp } from '../../edge/webhook/http-caller.ts';
import { NONCE_KEY_FILE, storedSecret } from '../data-folder.ts';
import type { DescriptorWatch } from '../descriptors.ts';
import type { Derived } from '../settings.ts';
import { trialCertificate } from '../sip-certificate.ts';
import { SipTraces } from '../sip-traces.ts';
import type { Clustered } from './cluster.ts';
import type { Basics, Foundation } from './foundation.ts';
import { withNodes } from './node-directory.ts';

const MIB = 2 ** 20;

/** Parts that SIP uses besides the settings and the store. */
export interface SipSurroundings {
  readonly cluster: Clustered | undefined;
  readonly descriptors: Pick<DescriptorWatch, 'mayKeep'>;
  readonly egress: DestinationGuard;
  readonly newCalls: NewCalls;
}

export interface SipLines {
  readonly signalling: RunningSignalling;
  readonly traces: SipTraces;
  /** Exporter to Homer. Undefined if not configured. */
  readonly hep: HepExporter | undefined;
  /** Certificate of TLS and WSS. */
  readonly sipIdentity: TlsIdentity;
}

/** Composes signaling with its certificate and message traces. The sockets open later. */
export async function openSip(
  basics: Basics,
  foundation: Foundation,
  derived: Derived,
  surroundings: SipSurroundings,
): Promise<SipLines> {
  const { traces, hep } = tracing(basics, derived);
  const sipIdentity = await identityOf(basics, derived);
  const wire = await wireOf(basics.settings);
  const parts = { ...surroundings, traces, wire, identity: sipIdentity };
  return { signalling: signallingOf(basics, foundation, derived, parts), traces, hep, sipIdentity };
}

interface SipParts extends SipSurroundings {
  readonly traces: SipTraces;
  readonly wire: WireFactory | undefined;
  readonly identity: TlsIdentity;
}

function signallingOf(
  { settings, logger, clock, random, dataDir }: Basics,
  foundation: Foundation,
  derived: Derived,
  { cluster, descriptors, egress, newCalls, traces, wire, identity }: SipParts,
): RunningSignalling {
  return createSignalling({
    wire,
    host: settings.sip.host,
    port: settings.sip.port,
    publicHost: derived.sipPublicHost,
    publicHost6: derived.sipPublicHost6,
    transports: ['udp', 'tcp'],
    realm: foundation.realm,
    userAgent: settings.sip.userAgent,
    clock,
    random,
    logger,
    directory: cluster ? withNodes(foundation, cluster.tickets) : foundation.phoneLogins,
    bindings: cluster?.shared.bindings ?? foundation.store.bindings,
    nonceKey: cluster && Buffer.from(storedSecret(dataDir, NONCE_KEY_FILE, random)),
    nonceCounts: cluster?.shared.nonceCounts,
    carriers: () => foundation.provisioning.carriers.list(),
    carrierProbeMs: settings.sip.carrierProbeMs,
    egress,
    newCalls,
    traces,
    challengeOrder: settings.sip.challengeOrder,
    unknownPeersPerSecond: settings.sip.unknownPeersPerSecond,
    edges: settings.sip.edges,
    outboundEdges: edgePlaces(settings.sip.outboundEdges, settings.sip.edges),
    expectsNode: (address) => cluster?.tickets.expects(address) ?? false,
    ...transportsOf(settings, identity, descriptors),
    firstResponseMs: settings.sip.firstResponseMs,
    messageMaxBytes: settings.sip.messageMaxBytes,
    registrar: registrarLimits(settings),
  });
}

/** Ports, certificate and limits of the SIP transports other than UDP and TCP. */
const transportsOf = (
  { sip }: Settings,
  identity: TlsIdentity,
  descriptors: SipParts['descriptors'],
) => ({
  tls: {
    identity: identity,
    port: sip.tlsPort || undefined,
    handshakesPerSecond: sip.tlsHandshakesPerSecond,
  },
  optionalPorts: [SETTINGS.sip.tlsPort, SETTINGS.sip.wsPort, SETTINGS.sip.wssPort].map(
    (setting) => setting.default,
  ),
  webSockets: {
    ws: sip.wsPort || undefined,
    wss: sip.wssPort || undefined,
    origins: sip.wsOrigins,
  },
  connections: {
    ...DEFAULT_STREAM_LIMITS,
    maxConnections: sip.maxConnections,
    maxConnectionsPerAddress: sip.connectionsPerAddress,
    mayKeep: () => descriptors.mayKeep(),
  },
});

const registrarLimits = ({ sip }: Settings) => ({
  ...DEFAULT_REGISTRAR_LIMITS,
  minExpires: sip.registerExpiresMinS,
  maxExpires: sip.registerExpiresMaxS,
});

/** Returns the SIP transport of drachtio. Undefined selects the built-in transport. */
async function wireOf({ sip, drachtio }: Settings): Promise<WireFactory | undefined> {
  if (sip.backend !== 'drachtio') return undefined;
  const { drachtioWire, serversOf } = await import('../../edge/sip/drachtio/drachtio-wire.ts');
  const servers = serversOf(drachtio.servers);
  if (servers === undefined)
    throw new ServiceError('CONFIG_INVALID', 'drachtio.servers needs hosts, as host or host:port');
  return drachtioWire({ ...drachtio, servers });
}

/** Hosts at which phones and carriers reach the service. */
const sipHosts = ({ sipPublicHost, sipPublicHost6 }: Derived): readonly string[] =>
  sipPublicHost6 === undefined ? [sipPublicHost] : [sipPublicHost, sipPublicHost6];

/** Our address for a peer, of the same family. For a public host name, which is not resolved, it is the loopback address. */
function ownAddressOf({ sipPublicHost, sipPublicHost6 }: Derived, remote: string): string {
  const family = isIPv6(remote) ? 6 : 4;
  const known = [sipPublicHost, sipPublicHost6].find((host) => isIP(host ?? '') === family);
  return known ?? (family === 6 ? '::1' : '127.0.0.1');
}

/** Composes the storage of SIP messages and their export. */
function tracing({ settings, clock, logger }: Basics, derived: Derived) {
  const ring = new MessageRing(settings.sip.traceMiB * MIB);
  const { host, port, captureId, password, hideCredentials: hidesCredentials } = settings.hep;
  const target = { host, port, captureId, password, hidesCredentials };
  const ownAddress = (remote: string): string => ownAddressOf(derived, remote);
  const hep =
    host === '' ? undefined : new HepExporter(ring, { ...target, ownAddress, clock, logger });
  const traces = new SipTraces({
    ring,
    own: { name: settings.sip.userAgent, address: ownAddress },
    exporter: hep,
  });
  return { traces, hep };
}

/** Loads the operator's certificate, or creates a self-signed one. */
async function identityOf(
  { settings: { sip }, dataDir, clock, logger }: Basics,
  derived: Derived,
): Promise<TlsIdentity> {
  const own = { certFile: sip.tlsCertFile, keyFile: sip.tlsKeyFile };
  const files =
    own.certFile === ''
      ? await trialCertificate(dataDir, sipHosts(derived), {
          name: 'sip',
          nowMs: clock.wallMs(),
          logger,
        })
      : own;
  const policy = { clients: sip.tlsClientCertificates, wildcards: sip.tlsWildcards };
  return new TlsIdentity({ ...files, caFile: sip.tlsCaFile }, policy, logger);
}

/** Composes STIR if it is configured. */
export async function callerProofs(
  { settings: { stir }, clock, logger }: Basics,
  http: CustomerHttp,
): Promise<CallerProofs & { reload?(): void }> {
  const { trustAnchorsFile: anchorsFile, keyFile, certificateUrl, freshnessS } = stir;
  if (anchorsFile === '' && keyFile === '') return {};
  const { createCallerProofs } = await import('../../edge/stir/stir.ts');
  const options = { anchorsFile, keyFile, certificateUrl, freshnessS, logger };
  return createCallerProofs({
    ...options,
    fetch: (url) => fetchCertificate(http, url),
    wallMs: () => clock.wallMs(),
  });
}

/** Fetches a certificate from a URL that a caller names. Guarded by the egress guard, with short timeouts. */
async function fetchCertificate(
  http: CustomerHttp,
  url: string,
): Promise<Result<Uint8Array, string>> {
  const fetched = await http.getBytes(url, CERTIFICATE_LIMITS);
  if (!fetched.ok) return err(fetched.error.detail);
  const { status, bytes } = fetched.value;
  return status === 200 ? ok(bytes) : err(`${url} was answered with ${status}`);
}

const CERTIFICATE_LIMITS = {
  maxBytes: 64 * 1024,
  maxRedirects: 1,
  connectTimeoutMs: 2000,
  readTimeoutMs: 2000,
} as const;
