/** Composes the call components: admission, billing, interpreter, routing and control. */
import type { DestinationGuard } from '../../base/egress.ts';
import type { Settings } from '../../config/schema.ts';
import type { CallLogs } from '../../domain/call/call.ts';
import {
  type AudioLibrary,
  type AudioStreams,
  type CallerProofs,
  isCodecPreference,
  type Media,
  type Recognizer,
  type RecordingEncoder,
  type Signalling,
  type SipAddresses,
  type Synthesizer,
} from '../../domain/call/needs.ts';
import type { CallbackClient } from '../../domain/callback/callback.ts';
import { FairShare, type NewCalls, OwnSlots, type Slots } from '../../domain/capacity/capacity.ts';
import { OpenRecords, Settler } from '../../domain/cdr/cdr.ts';
import type { Cdr } from '../../domain/cdr/types.ts';
import type { NodeTickets, Peers } from '../../domain/cluster/cluster.ts';
import type { Claims, Directory } from '../../domain/cluster/needs.ts';
import {
  Admission,
  BLegDialer,
  CallBilling,
  CallFactory,
  type DispatchNeeds,
  EndpointRate,
  followRevocations,
  Inbound,
  Outbound,
  PacedCalls,
  Referrals,
  Scripts,
  TrunkConnector,
} from '../../domain/dispatch/dispatch.ts';
import type { CallControl } from '../../domain/dispatch/types.ts';
import {
  CallRecorder,
  Conferences,
  type InterpreterNeeds,
  type Recorder,
  SharedConferences,
} from '../../domain/interpreter/interpreter.ts';
import type { Transcriptions } from '../../domain/transcription/transcription.ts';
import type { SignedLinks } from '../../edge/rest/links.ts';
import { Edges } from '../../edge/sip/edges.ts';
import type { Derived } from '../settings.ts';
import type { SipTraces } from '../sip-traces.ts';
import type { HoldMusic } from '../sounds.ts';
import { TracedControl } from '../traced-control.ts';
import type { Basics, Foundation } from './foundation.ts';

/** Components that create, run and end calls. */
export interface CallParts<R extends Recorder = Recorder> {
  readonly callBilling: CallBilling;
  readonly admission: Admission;
  readonly control: CallControl;
  readonly inbound: Inbound;
  readonly outbound: Outbound;
  readonly dialer: BLegDialer;
  readonly trunks: TrunkConnector;
  readonly recorder: R;
  /** Dependencies shared by the parts of dispatch. */
  readonly dispatching: DispatchNeeds;
  readonly paced: PacedCalls;
}

export type Calls = CallParts<CallRecorder>;

/** Dependencies of conferences with members on several nodes. */
interface OtherNodes {
  readonly peers: Peers;
  readonly claims: Claims;
  readonly tickets: NodeTickets;
  /** SIP host and port of this node for other nodes. */
  readonly host: string;
  readonly port: () => number;
}

/** External connections that calls need. Tests and simulations substitute their own. */
export interface CallLines {
  readonly callbacks: CallbackClient;
  readonly streams: AudioStreams;
  readonly media: Media & { status(): { readonly portsFree: number } };
  readonly audio: { readonly library: AudioLibrary; readonly encoder: RecordingEncoder };
  readonly speech: Synthesizer;
  readonly recognizer: Recognizer;
  readonly transcriptions: Transcriptions;
  readonly holdMusic: HoldMusic;
  readonly signalling: Signalling & {
    readonly addresses: SipAddresses;
    forgetBindings(username: string, login?: string): void;
  };
  readonly destinations: Pick<DestinationGuard, 'judgeRtp'> &
    Partial<Pick<DestinationGuard, 'addressesOf'>>;
  readonly newCalls: NewCalls;
  /** Absent: no other node uses the limits. */
  readonly slots?: Slots | undefined;
  /** Absent: no other node controls calls of this node. */
  readonly directory?: Directory | undefined;
  /** Absent: conferences exist only on this node. */
  readonly otherNodes?: OtherNodes | undefined;
  /** Absent: caller identities are not signed or verified. */
  readonly proofs?: CallerProofs;
  readonly logs: CallLogs;
  readonly traces: Pick<SipTraces, 'of'>;
}

export function joinCalls(
  basics: Basics,
  foundation: Foundation,
  lines: CallLines,
  derived: Derived,
  links: SignedLinks,
  onSettled: (cdr: Cdr) => void,
): Calls {
  const { logger, clock } = basics;
  const recorderOf = (callBilling: CallBilling): CallRecorder =>
    new CallRecorder({
      recordings: foundation.recordings,
      ledger: foundation.ledger,
      callbacks: lines.callbacks,
      transcriptions: lines.transcriptions,
      clock,
      logger,
      encoder: lines.audio.encoder,
      folder: foundation.recordingFiles,
      linkTo: (recording) => links.toRecording(recording),
      hangupReported: (call) => callBilling.settled(call),
    });
  return joinParts(basics, foundation, lines, derived, { recorderOf, onSettled });
}

/** Like `joinCalls`, with a recorder supplied by the caller: dispatch tests have no files. */
export function joinParts<R extends Recorder>(
  basics: Basics,
  foundation: Pick<Foundation, 'store' | 'accounts' | 'ledger' | 'provisioning' | 'phoneLogins'>,
  lines: CallLines,
  derived: Pick<Derived, 'sipPublicHost' | 'allowInsecure'>,
  {
    recorderOf,
    onSettled,
  }: {
    readonly recorderOf: (callBilling: CallBilling) => R;
    readonly onSettled: (cdr: Cdr) => void;
  },
): CallParts<R> {
  const { settings, logger, clock, random } = basics;
  const { store, accounts, ledger, provisioning, phoneLogins } = foundation;
  const { callbacks, media, signalling, logs, traces } = lines;
  const records = new OpenRecords(store.calls, logger);
  const callBilling = new CallBilling({
    calls: records,
    logs: store.callLogs,
    settler: new Settler(records, clock, logger),
    callbacks,
    clock,
    random,
    logger,
    record: {
      platformName: settings.platformName,
      hangupCallStatus: settings.compat.hangupCallStatus,
    },
    heartbeatMs: settings.calls.heartbeatMs,
    directory: lines.directory,
    onSettled,
  });
  const capacity = lines.slots ?? new OwnSlots(clock);
  const shares = new FairShare(clock);
  const { maxConcurrent: nodeLimit, waitForSlotMs } = settings.calls;
  const admission = new Admission({
    accounts,
    endpoints: store.endpoints,
    capacity,
    shares,
    newCalls: lines.newCalls,
    callBilling,
    clock,
    nodeLimit,
    waitMs: waitForSlotMs,
  });
  const { mediaTimeoutMs, srtp } = settings.rtp;
  const edges = new Edges(settings.sip.edges);
  const factory = new CallFactory({
    media,
    ledger,
    logs,
    clock,
    random,
    mediaTimeoutMs,
    srtp,
    codecs: {
      phones: settings.rtp.codecs.filter(isCodecPreference),
      carriers: settings.rtp.carrierCodecs.filter(isCodecPreference),
    },
    rtpSources: {
      acceptOthers: settings.rtp.acceptOtherSources,
      isEdge: (remoteAddress) => edges.has({ remoteAddress }),
    },
    resolveHost: lines.destinations.addressesOf,
    judgeRtp: ({ address, port, rtcpPort, heardFrom, carrier }) =>
      lines.destinations.judgeRtp(
        {
          address,
          port,
          receivedAt: heardFrom === undefined ? [] : [{ address: heardFrom, port }],
          // A carrier's media comes from the same addresses as its calls.
          allow:
            carrier === undefined
              ? []
              : (provisioning.carriers.get(carrier)?.sourceAddresses ?? []),
        },
        rtcpPort,
      ),
  });
  const scripts = new Scripts();
  const dispatching: DispatchNeeds = {
    accounts,
    provisioning,
    ledger,
    admission,
    callBilling,
    factory,
    scripts,
    capacity,
    shares,
    signalling,
    addresses: signalling.addresses,
    proofs: lines.proofs ?? {},
    callbacks,
    clock,
    random,
    logger,
    // A function, because dispatch and interpreter need each other: documents dial, and dialed legs run documents.
    interpreter: (): InterpreterNeeds => interpreter,
    settings: {
      callerIdPolicy: settings.callerId.policy,
      registrarHost: derived.sipPublicHost,
      srtp,
      ringTimeoutMs: settings.calls.ringTimeoutMs,
      waitForSlotMs,
      queuePerAccount: settings.calls.queuePerAccount,
      allowSpecial: settings.dialing.allowSpecial,
      passedHeaders: settings.sip.passHeaders.map((name) => name.toLowerCase()),
    },
  };
  const recorder = recorderOf(callBilling);
  const dialer = new BLegDialer(dispatching);
  const own = new Conferences({ media, recorder, clock, random, logger });
  const shared = lines.otherNodes && sharedConferences(own, dispatching, lines.otherNodes);
  const conferences = shared ?? own;
  admission.onDrain(() => shared?.leave());
  const interpreter: InterpreterNeeds = {
    callbacks,
    streams: lines.streams,
    media,
    audio: lines.audio.library,
    speech: lines.speech,
    recognizer: lines.recognizer,
    transcriptions: lines.transcriptions,
    holdMusic: lines.holdMusic,
    recorder,
    conferences,
    dialer,
    referrer: new Referrals(dispatching),
    keeping: callBilling,
    clock,
    random,
    logger,
    settings: interpreterSettings(settings, derived),
  };
  const trunks = new TrunkConnector(dispatching);
  const inbound = new Inbound({
    takes: (leg) => lines.otherNodes?.tickets.redeem(leg.endpointUsername, leg) ?? false,
    accounts,
    shares: dispatching.shares,
    slots: capacity,
    admission,
    factory,
    interpreter,
    scripts,
    logger,
    applications: store.applications,
    endpoints: store.endpoints,
    numbers: store.numbers,
    endpointRate: new EndpointRate(clock, settings.endpoints.callsPerMinute),
    toTrunk: (call, owner, number) => trunks.toTrunk(call, owner, number),
    registrarHost: derived.sipPublicHost,
    srtp,
    carriers: provisioning.carriers,
    callerIds: provisioning.callerIds,
    addresses: signalling.addresses,
    proofs: dispatching.proofs,
    proofPolicy: settings.stir.policy,
    callBilling,
    mediaPolicies: provisioning.mediaPolicies,
  });
  const outbound = new Outbound(dispatching);
  followRevocations({
    accounts,
    endpoints: provisioning.endpoints,
    callBilling,
    outbound,
    forgetBindings: (username, login) => signalling.forgetBindings(username, login),
    phoneLogins,
    endRunningCalls: settings.calls.endOnRevocation,
  });
  const reserve = settings.campaigns.reservePercent / 100;
  const paced = new PacedCalls({
    ...dispatching,
    outbound,
    reserve,
    hasPorts: () => media.status().portsFree > 0,
  });
  const controlNeeds = { ...dispatching, outbound, logs, storedLogs: store.callLogs };
  const control = new TracedControl(controlNeeds, (callUuid) => traces.of(callUuid));
  const parts = { callBilling, admission, control, inbound, outbound, dialer, trunks };
  return { ...parts, paced, recorder, dispatching };
}

const interpreterSettings = (
  settings: Settings,
  derived: Pick<Derived, 'allowInsecure'>,
): InterpreterNeeds['settings'] => ({
  allowInsecureStreams: derived.allowInsecure,
  redirectsPerMinute: settings.calls.redirectsPerMinute,
  ringTimeoutMs: settings.calls.ringTimeoutMs,
  answerBeforeDial: settings.calls.answerBeforeDial,
  referFrom: settings.calls.referFrom,
  streamQueueMs: settings.streams.queueMs,
  requireDisclosure: settings.streams.requireDisclosure,
  platformName: settings.platformName,
});

function sharedConferences(
  own: Conferences,
  dispatching: DispatchNeeds,
  { peers, claims, tickets, host, port }: OtherNodes,
): SharedConferences {
  const { callBilling, factory } = dispatching;
  return new SharedConferences({
    ...dispatching,
    own,
    claims,
    tickets,
    host,
    calls: callBilling,
    legs: factory,
    bus: peers.bus,
    nodeId: peers.nodeId,
    living: () => peers.living(),
    uriOf: (username) => `sip:${username}@${bracketed(host)}:${port()};transport=udp`,
  });
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
