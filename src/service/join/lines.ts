/** Composes all external connections: customers' servers and sockets, phones and carriers, audio. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { DestinationGuard } from '../../base/egress.ts';
import { ServiceError } from '../../base/errors.ts';
import { asCallUuid } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { SETTINGS, type Settings } from '../../config/schema.ts';
import { CallLogs } from '../../domain/call/call.ts';
import type { CallerProofs } from '../../domain/call/needs.ts';
import {
  type CallbackClient,
  createCallbackClient,
  createUpgradeSigner,
  Deliveries,
  KnownTokens,
} from '../../domain/callback/callback.ts';
import type { CallbackAttempt } from '../../domain/callback/types.ts';
import { NewCalls } from '../../domain/capacity/capacity.ts';
import { type AudioService, createAudio } from '../../edge/audio/audio-library.ts';
import {
  createDestinationGuard,
  createEgressGuard,
  createServiceAddresses,
} from '../../edge/egress/egress.ts';
import { createMedia, type MediaEngine } from '../../edge/media/engine.ts';
import type { Metrics } from '../../edge/metrics/metrics.ts';
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
import { createRecognizer, type RecognizerService } from '../../edge/speech/recognizer.ts';
import { createSynthesizer, type SpeechService } from '../../edge/speech/synthesizer.ts';
import { type AudioStreamsEdge, createAudioStreams } from '../../edge/stream/client.ts';
import { DemoApplication } from '../../edge/webhook/demo-application.ts';
import { Drafts } from '../../edge/webhook/drafts.ts';
import { type CustomerHttp, createHttpCaller } from '../../edge/webhook/http-caller.ts';
import { NONCE_KEY_FILE, storedSecret } from '../data-folder.ts';
import type { DescriptorWatch } from '../descriptors.ts';
import type { Derived } from '../settings.ts';
import { trialCertificate } from '../sip-certificate.ts';
import { SipTraces } from '../sip-traces.ts';
import { createHoldMusic, type HoldMusic } from '../sounds.ts';
import type { Clustered } from './cluster.ts';
import type { Basics, Foundation } from './foundation.ts';
import { withNodes } from './node-directory.ts';

export interface Lines {
  readonly http: CustomerHttp;
  readonly drafts: Drafts;
  readonly deliveries: Deliveries;
  readonly ownDemo: DemoApplication;
  readonly callbacks: CallbackClient;
  readonly streams: AudioStreamsEdge;
  readonly media: MediaEngine;
  readonly audio: AudioService;
  readonly speech: SpeechService;
  readonly recognizer: RecognizerService;
  readonly holdMusic: HoldMusic;
  readonly signalling: RunningSignalling;
  readonly proofs: CallerProofs & { reload?(): void };
  /** Limits the rate of new calls. */
  readonly newCalls: NewCalls;
  readonly destinations: DestinationGuard;
  /** Registers another listener of this service. Customer traffic to it is refused. */
  readonly listensOn: (url: string) => void;
  /** In-memory timelines of calls. */
  readonly logs: CallLogs;
  readonly traces: SipTraces;
  /** Exporter to Homer. Undefined if not configured. */
  readonly hep: HepExporter | undefined;
  /** Certificate of TLS and WSS. */
  readonly sipIdentity: TlsIdentity;
}

/** Maximum number of ended calls whose timeline stays in memory. */
const LOGGED_CALLS = 2000;
const MIB = 2 ** 20;

interface Surroundings {
  readonly cluster: Clustered | undefined;
  readonly descriptors: Pick<DescriptorWatch, 'mayKeep'>;
}

export async function openLines(
  basics: Basics,
  foundation: Foundation,
  derived: Derived,
  metrics: Metrics,
  { cluster, descriptors }: Surroundings,
): Promise<Lines> {
  const { settings, logger, clock, random, dataDir } = basics;
  const customers = towardsCustomers(basics, foundation, derived, metrics, cluster);
  const media = createMedia({
    identity: await mediaIdentity(basics),
    rtpHost: settings.rtp.host,
    publicHost: derived.rtpPublicHost,
    publicHost6: derived.rtpPublicHost6,
    icePort: settings.rtp.icePort < 0 ? undefined : settings.rtp.icePort,
    portMin: settings.rtp.portMin,
    portMax: settings.rtp.portMax,
    keepAliveMs: settings.rtp.keepAliveMs,
    threads: threadsOf(settings.rtp.mediaThreads),
    ioUring: settings.rtp.ioUring,
    drive: 'thread',
    suppressDigits: settings.recordings.suppressDigits,
    wallMs: () => clock.wallMs(),
    logger,
  });
  media.checkPorts();
  const ports = new Set<number>();
  const destinations = createDestinationGuard({
    allow: settings.egress.allow,
    allowLoopback: derived.local,
    own: createServiceAddresses({
      hosts: ownHosts(settings, derived),
      isPort: (port) => ports.has(port) || signalling.listensOn(port),
      isRtpOfLeg: (port) => media.isPortOfLeg(port),
      rtpRange: { min: settings.rtp.portMin, max: settings.rtp.portMax },
      monotonicMs: () => clock.monotonicMs(),
    }),
  });
  const { traces, hep } = tracing(basics, derived);
  const sipIdentity = await identityOf(basics, derived);
  const newCalls = new NewCalls(clock);
  const signalling = createSignalling({
    wire: await wireOf(settings),
    host: settings.sip.host,
    port: settings.sip.port,
    publicHost: derived.sipPublicHost,
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
    egress: destinations,
    newCalls,
    traces,
    challengeOrder: settings.sip.challengeOrder,
    unknownPeersPerSecond: settings.sip.unknownPeersPerSecond,
    edges: settings.sip.edges,
    outboundEdges: edgePlaces(settings.sip.outboundEdges, settings.sip.edges),
    expectsNode: (address) => cluster?.tickets.expects(address) ?? false,
    tls: {
      identity: sipIdentity,
      port: settings.sip.tlsPort || undefined,
      handshakesPerSecond: settings.sip.tlsHandshakesPerSecond,
    },
    optionalPorts: [SETTINGS.sip.tlsPort, SETTINGS.sip.wsPort, SETTINGS.sip.wssPort].map(
      (setting) => setting.default,
    ),
    webSockets: {
      ws: settings.sip.wsPort || undefined,
      wss: settings.sip.wssPort || undefined,
      origins: settings.sip.wsOrigins,
    },
    connections: {
      ...DEFAULT_STREAM_LIMITS,
      maxConnections: settings.sip.maxConnections,
      maxConnectionsPerAddress: settings.sip.connectionsPerAddress,
      mayKeep: () => descriptors.mayKeep(),
    },
    firstResponseMs: settings.sip.firstResponseMs,
    messageMaxBytes: settings.sip.messageMaxBytes,
    registrar: {
      ...DEFAULT_REGISTRAR_LIMITS,
      minExpires: settings.sip.registerExpiresMinS,
      maxExpires: settings.sip.registerExpiresMaxS,
    },
  });
  const proofs = await callerProofs(basics, customers.http);
  const audio = createAudio({
    fetch: (url, request) => customers.http.getBytes(url, request),
    clock,
    limits: { stallTimeoutMs: settings.webhooks.firstByteMs },
  });
  return {
    ...customers,
    media,
    signalling,
    newCalls,
    destinations,
    listensOn: (url) => ports.add(portOf(url)),
    traces,
    hep,
    sipIdentity,
    proofs,
    audio,
    holdMusic: createHoldMusic(settings.calls.holdMusic, audio, logger),
    speech: await createSynthesizer({
      engine: settings.speech.engine,
      http: settings.speech.url === '' ? undefined : settings.speech,
      cacheDir: join(dataDir, 'cache', 'speech'),
      logger,
    }),
    recognizer: await createRecognizer({
      ...settings.recognition,
      decode: (bytes) => audio.decode(bytes),
      logger,
    }),
  };
}

/** Returns the SIP transport of drachtio. Undefined selects the built-in transport. */
async function wireOf({ sip, drachtio }: Settings): Promise<WireFactory | undefined> {
  if (sip.backend !== 'drachtio') return undefined;
  const { drachtioWire, serversOf } = await import('../../edge/sip/drachtio/drachtio-wire.ts');
  const servers = serversOf(drachtio.servers);
  if (servers === undefined)
    throw new ServiceError('CONFIG_INVALID', 'drachtio.servers needs hosts, as host or host:port');
  return drachtioWire({ ...drachtio, servers });
}

/** Composes the storage of SIP messages and their export. */
function tracing({ settings, clock, logger }: Basics, derived: Derived) {
  const ring = new MessageRing(settings.sip.traceMiB * MIB);
  const { host, port, captureId, password, hideCredentials: hidesCredentials } = settings.hep;
  const target = { host, port, captureId, password, hidesCredentials };
  const own = isIP(derived.sipPublicHost) === 0 ? '127.0.0.1' : derived.sipPublicHost;
  const hep =
    host === '' ? undefined : new HepExporter(ring, { ...target, ownAddress: own, clock, logger });
  const traces = new SipTraces({
    ring,
    own: { name: settings.sip.userAgent, address: own },
    exporter: hep,
  });
  return { traces, hep };
}

function towardsCustomers(
  { settings, logger, clock, random }: Basics,
  { store }: Foundation,
  derived: Derived,
  metrics: Metrics,
  cluster: Clustered | undefined,
) {
  const ownDemo = new DemoApplication();
  const egress = createEgressGuard({
    allow: settings.egress.allow,
    allowLoopback: derived.local,
    allowInsecure: derived.allowInsecure,
    isOpen: (url) => ownDemo.isAt(url),
  });
  const drafts = new Drafts(random);
  const outside = createHttpCaller({
    egress,
    connectionsPerHost: settings.webhooks.connectionsPerHost,
    ...certificateAuthorities(settings.streams.caFile),
  });
  const http = ownDemo.before(drafts.before(outside));
  const { logEntries: entries, logRetentionMs: retentionMs } = settings.calls;
  const logs = new CallLogs({ entries, retentionMs, calls: LOGGED_CALLS }, clock);
  const signing = {
    tokens: new KnownTokens(store.signingTokens),
    random,
    settings: { ...settings.webhooks, traceparent: settings.telemetry.tracesUrl !== '' },
    lease: cluster?.shared.lease,
  };
  const sending = { ...signing, http, clock, notifications: store.notifications };
  const deliveries = new Deliveries(sending);
  const measure = ({ event, status, durationMs }: CallbackAttempt): void =>
    metrics.webhook(event, String(status ?? 'error'), durationMs);
  const client = createCallbackClient({
    ...sending,
    journal: deliveries,
    logger,
    onAttempt: ({ subject }, attempt) => {
      logs.get(asCallUuid(subject))?.add('callback', attempt.event, { ...attempt });
      measure(attempt);
    },
  });
  const callbacks: CallbackClient = {
    ...client,
    fetchDocument: (target, parameters, options) =>
      client.fetchDocument(target, parameters, {
        ...options,
        onAttempt(attempt) {
          measure(attempt);
          options.onAttempt?.(attempt);
        },
      }),
  };
  const streams = createAudioStreams({
    egress,
    signUpgrade: createUpgradeSigner(signing),
    userAgent: settings.webhooks.userAgent,
    caFile: settings.streams.caFile,
    threads: threadsOf(settings.streams.threads),
    clock,
    logger,
    turnTook: (latencyMs) => metrics.turnTook(latencyMs),
    limits: {
      queueMs: settings.streams.queueMs,
      accountMessageBytes: settings.streams.accountMessageBytes,
    },
  });
  return { http, callbacks, streams, logs, drafts, ownDemo, deliveries };
}

function certificateAuthorities(file: string): { readonly ca?: string } {
  if (file === '') return {};
  try {
    return { ca: readFileSync(file, 'utf8') };
  } catch (cause) {
    throw new ServiceError('CONFIG_INVALID', `streams.caFile ${file} cannot be read`, { cause });
  }
}

/** Returns all hosts and addresses to which this service is bound or by which it is known. */
function ownHosts({ http, sip, rtp }: Settings, derived: Derived): readonly string[] {
  const { hostname } = new URL(derived.publicUrl);
  const hosts = [http.host, sip.host, rtp.host, derived.sipPublicHost, derived.rtpPublicHost];
  return [...hosts, hostname.replace(/^\[(.*)\]$/, '$1')];
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Composes STIR if it is configured. */
async function callerProofs(
  { settings: { stir }, clock, logger }: Basics,
  http: CustomerHttp,
): Promise<Lines['proofs']> {
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

/** Loads the operator's certificate, or creates a self-signed one. */
async function identityOf(
  { settings: { sip }, dataDir, clock, logger }: Basics,
  derived: Derived,
): Promise<TlsIdentity> {
  const own = { certFile: sip.tlsCertFile, keyFile: sip.tlsKeyFile };
  const files =
    own.certFile === ''
      ? await trialCertificate(dataDir, [derived.sipPublicHost], {
          name: 'sip',
          nowMs: clock.wallMs(),
          logger,
        })
      : own;
  const policy = { clients: sip.tlsClientCertificates, wildcards: sip.tlsWildcards };
  return new TlsIdentity({ ...files, caFile: sip.tlsCaFile }, policy, logger);
}

/** Leaves one core to everything else. */
const threadsOf = (wanted: number): number =>
  wanted === 0 ? Math.max(1, availableParallelism() - 1) : wanted;

/** Returns the certificate for DTLS-SRTP. Its fingerprint in SDP authenticates it, so it needs no other trust. */
async function mediaIdentity({ dataDir, clock, logger }: Basics) {
  const { certFile, keyFile } = await trialCertificate(dataDir, [], {
    name: 'media',
    nowMs: clock.wallMs(),
    logger,
  });
  return { certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
