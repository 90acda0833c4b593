/** What the call components need: external connections, and the parts of the service below them. */
import type { DestinationGuard } from '../../base/egress.ts';
import type { CallLogs, CallNeeds } from '../../domain/call/call.ts';
import type {
  AudioLibrary,
  AudioStreams,
  CallerProofs,
  Media,
  Recognizer,
  RecordingEncoder,
  Signalling,
  SipAddresses,
  Synthesizer,
} from '../../domain/call/needs.ts';
import type { CallbackClient } from '../../domain/callback/callback.ts';
import type { NewCalls, Slots } from '../../domain/capacity/capacity.ts';
import type { NodeTickets, Peers } from '../../domain/cluster/cluster.ts';
import type { Claims, Directory } from '../../domain/cluster/needs.ts';
import type { Transcriptions } from '../../domain/transcription/transcription.ts';
import type { Derived } from '../settings.ts';
import type { SipTraces } from '../sip-traces.ts';
import type { HoldMusic } from '../sounds.ts';
import type { Basics, Foundation } from './foundation.ts';

/** Dependencies of conferences with members on several nodes. */
export interface OtherNodes {
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
  /** Absent: no other node can adopt calls of this node. */
  readonly lease?: CallNeeds['lease'];
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

/** Parts of the service from which the call components are built. */
export interface CallSite {
  readonly basics: Basics;
  readonly foundation: Pick<
    Foundation,
    'store' | 'accounts' | 'ledger' | 'provisioning' | 'phoneLogins'
  >;
  readonly lines: CallLines;
  readonly derived: Pick<Derived, 'registrarHost' | 'allowInsecure'>;
}
