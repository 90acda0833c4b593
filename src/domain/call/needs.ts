/** Ports that calls use: leg-level signalling, media and audio-stream sockets. */
import { noOperation } from '../../base/no-operation.ts';
import type { Result } from '../../base/result.ts';
import type {
  AddressFamily,
  CodecName,
  CodecPreference,
  OpusSending,
  SrtpPolicy,
  SrtpSuite,
} from '../../protocol/sdp/sdp.ts';
import type { MediaQuality } from '../cdr/types.ts';
import type { LineRate, Pcm } from './audio-needs.ts';
import type {
  Listening,
  ListenOptions,
  RecognitionProblem,
  RecognitionRequest,
  Transcript,
} from './recognition-needs.ts';
import type { LegEvents } from './signalling-needs.ts';
import type {
  MediaStream,
  MediaStreamEvents,
  MediaStreamOptions,
  StreamSocket,
  StreamSocketEvents,
  StreamSocketOptions,
} from './stream-needs.ts';

export {
  CODEC_NAMES,
  CODEC_PREFERENCES,
  isCodecName,
  isCodecPreference,
} from '../../protocol/sdp/sdp.ts';
export type * from './audio-needs.ts';
export type * from './recognition-needs.ts';
export type * from './signalling-needs.ts';
export { SRTP_REQUIRED, srtpRule } from './signalling-needs.ts';
export type * from './stream-needs.ts';
export type * from './text-needs.ts';

/**
 * Event handlers of a leg without a call. Re-INVITEs and digits are dropped. The leg reports its end again to the call
 * that attaches.
 */
export const BEFORE_CALL: LegEvents = {
  ended: noOperation,
  offered: noOperation,
  answered: noOperation,
  dtmf: noOperation,
  referred: (refer) => refer.refuse(),
};

// ---------------------------------------------------------------- media

/**
 * Codecs to offer and accept, in order of preference: for registered phones and other SIP peers, or for carriers and
 * trunks.
 */
export interface CodecPreferences {
  readonly phones: readonly CodecPreference[];
  readonly carriers: readonly CodecPreference[];
}
export type { CodecName, CodecPreference, SrtpPolicy, SrtpSuite };

type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** Knowledge of a closing leg's ports by its peer; decides how long the ports stay unused. */
export type PeerAtEnd =
  | 'known' // a session was or may have been negotiated; the default
  | 'offered' // the peer received the ports in an offer and has not answered
  | 'refused'; // the peer refused the call, or never received the ports

/** Audio encoding of RTP packets. */
export interface SessionCodec {
  readonly name: CodecName;
  /** Clock rate of RTP timestamps, in Hz. */
  readonly clockRate: number;
  /** Sample rate of the audio, in Hz. Differs from the clock rate for G.722. */
  readonly sampleRate: LineRate;
  readonly channels: number;
  /** Opus only: encoding that the peer requests (RFC 7587 §6.1). */
  readonly opus?: OpusSending;
}

/** RTP payload types: `send` is chosen by the peer, `receive` by this node. */
interface PayloadTypes {
  readonly send: number;
  readonly receive: number;
}

interface EventTypes extends PayloadTypes {
  /** Clock rate of event timestamps, in Hz. May differ from the codec's. */
  readonly clockRate: number;
}

/** SRTP keys: master key followed by master salt, in the length that the suite requires. Never log them. */
export interface SrtpSession {
  readonly suite: SrtpSuite;
  /** Our key. */
  readonly send: Uint8Array;
  /** The peer's key. */
  readonly receive: Uint8Array;
  /** Length of the master key identifier (MKI) in the peer's packets, in bytes; 0: no MKI. */
  readonly receiveMkiBytes: number;
}

/** SRTP with keys from a DTLS handshake on the RTP port (DTLS-SRTP, RFC 5764). */
interface DtlsSession {
  /** Our role; the client starts the handshake. */
  readonly role: 'client' | 'server';
  /** Hash function of the peer's certificate fingerprint. */
  readonly hash: 'sha-256' | 'sha-384' | 'sha-512';
  readonly fingerprint: Uint8Array;
}

/** Packet protection: plain RTP or SRTP. */
export type MediaProtection = 'none' | SrtpSession | DtlsSession;

/** ICE lite credentials (RFC 8445): the peer's connectivity checks show its address. Never log them. */
interface IceSession {
  readonly localUfrag: string;
  readonly localPassword: string;
  readonly remoteUfrag: string;
}

/** Negotiated media session of one leg. `direction` is from this node's point of view. */
export interface MediaSession {
  /** Destination address of RTP; '' if it must be learned from the peer's packets. */
  readonly address: string;
  readonly port: number;
  readonly codec: SessionCodec;
  readonly payloadType: PayloadTypes;
  /** Payload types of telephone-event (RFC 4733); undefined: DTMF in-band or by INFO. */
  readonly telephoneEvent: EventTypes | undefined;
  /** Packet time to send, as requested by the peer: 10 to 60 ms in steps of 10. */
  readonly ptimeMs: number;
  readonly direction: MediaDirection;
  readonly protection: MediaProtection;
  /** RTP and RTCP share a port (RFC 5761). */
  readonly rtcpMux?: boolean;
  /** Port of the peer's RTCP in its SDP (RFC 3605). Default: the port above RTP. */
  readonly rtcpPort?: number | undefined;
  /** RTCP is sent only to the source of the peer's RTCP, not to the port above RTP. */
  readonly rtcpLearned?: boolean;
  /** Payload types of comfort noise (RFC 3389) if the peer supports it: one packet marks the start of silence. */
  readonly comfortNoise?: PayloadTypes | undefined;
  /** The peer requests VoIP metrics in RTCP reports (RFC 3611). */
  readonly voipMetrics?: boolean;
  readonly ice?: IceSession | undefined;
  /** Source IP address of the peer's signalling. A phone behind a NAT sends RTP from the same address. */
  readonly signallingAddress?: string | undefined;
  /**
   * Address in the SDP when `address` is ''. RTP from it is accepted, and RTP is sent to it only after that. A host
   * name is ignored.
   */
  readonly describedAddress?: string | undefined;
  /**
   * True accepts RTP from hosts other than those of the SDP and the signalling, unless both name the same host.
   * Default: false. Always true with ICE or DTLS, because checks and keys prove the source.
   */
  readonly acceptOtherSources?: boolean;
}

/** New source and destination address of the peer's RTP. */
export interface SourceChange {
  readonly address: string;
  readonly port: number;
  readonly reason:
    | 'learned' // first accepted source, different from the SDP address
    | 'signalled' // the SDP address replaced a learned one
    | 'moved' // the same stream continues from another address
    | 'preferred' // a host named by signalling replaced another host
    | 'replaced'; // the previous source had been silent
}

export interface MediaLegEvents {
  /** Keypad press, reported once regardless of its transport. `asTone`: detected in-band; the tone is still in the audio. */
  dtmf(digit: string, asTone?: boolean): void;
  sourceChanged?(change: SourceChange): void;
  /** The DTLS handshake has ended. `fault`: the reason why it failed. */
  secured?(fault: string | undefined): void;
  /** No RTP for the configured timeout, except on hold. The timeout expired `lateMs` ago. */
  silent(lateMs: number): void;
}

/** Running playback. `finished` never rejects; 'stopped' means stop() was called or the leg was closed. */
export interface Playback {
  readonly finished: Promise<'completed' | 'stopped'>;
  stop(): void;
}

/** Tone cadence: each step plays the sum of its frequencies for `onMs`, then pauses for `offMs`. */
export interface Tone {
  readonly steps: ReadonlyArray<{
    readonly frequenciesHz: readonly number[];
    readonly onMs: number;
    readonly offMs: number;
  }>;
  readonly loop: boolean;
  /** Level of each frequency in dBm0, e.g. -15. */
  readonly levelDbm0: number;
}

export interface PlayOptions {
  /** Repetitions; 0 = until stopped. */
  readonly loop: number;
  /** True mixes the audio over everything that the leg hears. False replaces the far end; bots remain audible. */
  readonly mix: boolean;
  /** Mutes all other audio including bots, whose audio waits. Only effective without `mix`. */
  readonly alone?: boolean;
}

export interface RecordOptions {
  /** Absolute path of the WAV file to write (crash-safe header). */
  readonly path: string;
  /** Recorded audio: from the peer, to the peer, or both (stereo: left = received, right = sent). */
  readonly channels: 'received' | 'sent' | 'both';
  readonly stereo: boolean;
  /** Silence of the peer that ends the recording, in ms; 0 = never. */
  readonly silenceEndMs: number;
  readonly maxMs: number;
  /** True if the recording contains the ringback; otherwise it has silence in its place. Default: false. */
  readonly ringback?: boolean;
}

export interface RecordEnd {
  readonly reason: 'stopped' | 'silence' | 'maxLength' | 'legEnded' | 'failed';
  readonly durationMs: number;
  readonly error: string | undefined;
}

export interface MediaRecording {
  readonly finished: Promise<RecordEnd>;
  pause(paused: boolean): void;
  stop(): void;
}

/** Timing parameters of answering machine detection (dialect §6), in ms except `maximumWords`. */
export interface MachineDetectionOptions {
  readonly totalMs: number;
  readonly initialSilenceMs: number;
  readonly greetingMs: number;
  readonly maximumWords: number;
  readonly maximumWordMs: number;
  /** Replaces `greetingMs` and `maximumWords` by rules that also accept the greeting of a business. */
  readonly adaptive: boolean;
}

export interface MachineDetectionResult {
  readonly machine: boolean;
  readonly reason:
    | 'initialSilence'
    | 'greeting'
    | 'words'
    | 'wordLength'
    | 'human'
    | 'timeout'
    | 'beep'
    | 'ended';
  readonly afterMs: number;
}

export interface DigitsOptions {
  readonly toneMs: number;
  readonly gapMs: number;
  /** Forces in-band tones. Default: RFC 4733 when negotiated, otherwise in-band. */
  readonly inband: boolean;
}

export interface MediaLeg {
  /** Local address to which the peer sends RTP. */
  readonly address: string;
  /** The same for a peer with IPv6; undefined: `address`. */
  readonly address6?: string | undefined;
  readonly port: number;
  /** Port for a peer with ICE, by UDP or TCP; undefined: `port`, by UDP only. */
  readonly icePort?: number | undefined;
  /** Destination of RTP in the last session; undefined until known. */
  readonly remote?: { readonly address: string; readonly port: number } | undefined;
  /**
   * Starts the leg on the first call. Later calls (re-INVITE) change the session and keep streams and playbacks. With
   * an empty address, sending starts once packets from the peer show its address.
   */
  configure(session: MediaSession): void;
  /** Sample rate of the leg, in Hz. Audio for playback needs no higher rate. */
  readonly rate: LineRate;
  play(pcm: Pcm, options: PlayOptions): Playback;
  playTone(tone: Tone, options: PlayOptions): Playback;
  /** Sends `0-9*#A-D`; `w` pauses 0.5 s, `W` 1 s. Resolves when the last digit has been sent. */
  sendDigits(digits: string, options: DigitsOptions): Promise<void>;
  /**
   * Reports a keypad press that arrived by signalling to streams and `dtmf`. A press that the peer sends both ways is
   * reported once.
   */
  pressed(digit: string): void;
  /**
   * Enables or disables the detection of in-band keypad tones where telephone-event is not negotiated. Default:
   * disabled. An open stream detects them in any case.
   */
  hearTones(wanted: boolean): void;
  openStream(options: MediaStreamOptions, events: MediaStreamEvents): MediaStream;
  record(options: RecordOptions): MediaRecording;
  /** Marks the audio to the peer as ringback (ringing tone, music or early media of a called party) until reset. */
  ringback(isRingback: boolean): void;
  /** A detection whose signal is aborted results in `ended`. */
  detectMachine(
    options: MachineDetectionOptions,
    signal?: AbortSignal,
  ): Promise<MachineDetectionResult>;
  /** Resolves to true once the peer has been silent for `ms`, or to false after `maxMs`. */
  waitForSilence(ms: number, maxMs: number, signal: AbortSignal): Promise<boolean>;
  quality(): MediaQuality;
  /**
   * Frees the ports and ends playbacks, streams and recordings. Ports stay unused for a quarantine, which is longer if
   * late packets are likely (`peer`). Idempotent.
   */
  close(peer?: PeerAtEnd): MediaQuality;
}

export interface Bridge {
  close(): void;
}

/** Flags to change; absent flags keep their value. */
export interface MemberFlags {
  readonly muted?: boolean;
  readonly deaf?: boolean;
  readonly held?: boolean;
  /** Heard by coached members only, and not recorded. */
  readonly whispers?: boolean;
  readonly coached?: boolean;
  /** Heard by the other members, but left out of recordings of the room. */
  readonly unrecorded?: boolean;
}

export interface RoomMember {
  set(flags: MemberFlags): void;
  leave(): void;
}

export interface MediaRoom {
  /** Adds a member; absent flags are false. */
  join(leg: MediaLeg, flags: MemberFlags): RoomMember;
  /** Highest sample rate of the members, in Hz. */
  readonly rate: LineRate;
  /** Plays audio to all members. */
  play(pcm: Pcm, options: PlayOptions): Playback;
  playTone(tone: Tone, options: PlayOptions): Playback;
  record(path: string): MediaRecording;
  close(): void;
}

export interface RoomEvents {
  /** The active speaker changed (by energy); undefined: all members are silent. */
  floor(member: RoomMember | undefined): void;
}

export interface MediaLegOptions {
  readonly mediaTimeoutMs: number;
  /** Leg that this one will probably be bridged with. Legs on the same media thread are bridged more cheaply. */
  readonly near?: MediaLeg | undefined;
}

export interface Media {
  /** Address families of RTP; default IPv4. */
  readonly families?: readonly AddressFamily[];
  /** Certificate fingerprint for `a=fingerprint`: `sha-256 AB:…`. Undefined: DTLS is not available. */
  readonly fingerprint?: string | undefined;
  /** Opens a leg. Rejects with ServiceError MEDIA_NO_PORTS or MEDIA_UNAVAILABLE. */
  openLeg(options: MediaLegOptions, events: MediaLegEvents): Promise<MediaLeg>;
  /** Connects the audio of both legs. Recordings and streams continue. */
  bridge(a: MediaLeg, b: MediaLeg): Bridge;
  openRoom(events: RoomEvents): MediaRoom;
}

// ---------------------------------------------------------------- audio-stream sockets

export interface AudioStreams {
  /** Connects to the bot as a WebSocket client, implements the stream protocol and moves audio between socket and `leg`. */
  open(options: StreamSocketOptions, leg: MediaLeg, events: StreamSocketEvents): StreamSocket;
}

// ---------------------------------------------------------------- speech recognition

export interface Recognizer {
  /** Recognizes the peer's speech until the end of the first utterance. Never throws. */
  listen(leg: Pick<MediaLeg, 'openStream'>, options: ListenOptions): Listening;
  /** Transcribes a whole WAV or MP3 file. Never rejects. */
  transcribe(
    file: Uint8Array,
    request: RecognitionRequest,
  ): Promise<Result<Transcript, RecognitionProblem>>;
}
