/** What calls need from the outside: signalling at leg level, media, and audio-stream sockets. */
import type { Result } from '../../base/result.ts';
import type { CodecName, CodecWish, SrtpPolicy, SrtpSuite } from '../../protocol/sdp/sdp.ts';
import type { MediaQuality } from '../cdr/types.ts';
import type { LineRate, Pcm } from './audio-needs.ts';
import type {
  Listening,
  ListenOptions,
  RecognitionProblem,
  RecognitionRequest,
  Transcript,
} from './recognition-needs.ts';
import type {
  MediaStream,
  MediaStreamEvents,
  MediaStreamOptions,
  StreamSocket,
  StreamSocketEvents,
  StreamSocketOptions,
} from './stream-needs.ts';

export { isCodecName, isCodecWish } from '../../protocol/sdp/sdp.ts';
export type * from './audio-needs.ts';
export type * from './recognition-needs.ts';
export type * from './signalling-needs.ts';
export { SRTP_REQUIRED, srtpRule } from './signalling-needs.ts';
export type * from './stream-needs.ts';

// ---------------------------------------------------------------- media

/** Whom we offer and answer which codecs, in our order: registered phones and whoever else, or carriers and trunks. */
export interface CodecPreferences {
  readonly phones: readonly CodecWish[];
  readonly carriers: readonly CodecWish[];
}
export type { CodecName, CodecWish, SrtpPolicy, SrtpSuite };
export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** Who may still send to the ports of a leg that closes. */
export type PeerAtEnd =
  | 'known' // one that was settled with, or may have been; the default
  | 'offered' // one that was told of the ports in an offer, and has not answered
  | 'refused'; // nobody: whoever was told of them has refused the call, if anybody was

/** How audio is written in packets. */
export interface SessionCodec {
  readonly name: CodecName;
  /** Of RTP timestamps, Hz. */
  readonly clockRate: number;
  /** Of the audio, Hz; not always the clock rate (G.722). */
  readonly sampleRate: LineRate;
  readonly channels: number;
  /** Of Opus alone: how the peer wants to be sent to (RFC 7587 §6.1). */
  readonly opus?: OpusSending;
}

export interface OpusSending {
  /** bit/s; 0: as much as the rate needs. */
  readonly bitrate: number;
  /** In-band forward error correction. */
  readonly fec: boolean;
  /** Nothing is sent in silence. */
  readonly dtx: boolean;
}

/** RTP payload types: the peer's, with which we send, and ours, with which it sends. */
export interface PayloadTypes {
  readonly send: number;
  readonly receive: number;
}

export interface EventTypes extends PayloadTypes {
  /** Of their timestamps, Hz; not always the codec's. */
  readonly clockRate: number;
}

/** Keys of SRTP: master key and master salt in one, as many bytes as the suite wants. Never to be logged. */
export interface SrtpSession {
  readonly suite: SrtpSuite;
  /** Ours. */
  readonly send: Uint8Array;
  /** The peer's. */
  readonly receive: Uint8Array;
  /** Length of the key identifier in each packet of the peer; 0: none. */
  readonly receiveMkiBytes: number;
}

/** SRTP with keys that the media side exchanges with the peer over the RTP port (DTLS-SRTP, RFC 5764). */
export interface DtlsSession {
  /** Who begins: the client. */
  readonly role: 'client' | 'server';
  /** Digest of the peer's certificate. */
  readonly hash: 'sha-256' | 'sha-384' | 'sha-512';
  readonly fingerprint: Uint8Array;
}

/** Of the packets: plain RTP, or SRTP. */
export type MediaProtection = 'none' | SrtpSession | DtlsSession;

/** The lite side of ICE (RFC 8445): the peer's checks show where it is. Never to be logged. */
export interface IceSession {
  readonly localUfrag: string;
  readonly localPassword: string;
  readonly remoteUfrag: string;
}

/** What negotiation settled for one leg; direction is ours (what we do). */
export interface MediaSession {
  /** '' when there is none to send to: the peer's packets bring it. */
  readonly address: string;
  readonly port: number;
  readonly codec: SessionCodec;
  readonly payloadType: PayloadTypes;
  /** RFC 4733; undefined: DTMF in-band (or INFO). */
  readonly telephoneEvent: EventTypes | undefined;
  /** Packet time that the peer asked us to send, 10…60 ms in steps of 10. */
  readonly ptimeMs: number;
  readonly direction: MediaDirection;
  readonly protection: MediaProtection;
  /** RTP and RTCP share a port (RFC 5761). */
  readonly rtcpMux?: boolean;
  /** No RTCP goes to the port above the one of RTP: only to where the peer's comes from. */
  readonly rtcpLearned?: boolean;
  /** The peer understands comfort noise (RFC 3389): one such packet says that a silence begins. */
  readonly comfortNoise?: boolean;
  /** The peer wants VoIP metrics in reports (RFC 3611). */
  readonly voipMetrics?: boolean;
  readonly ice?: IceSession | undefined;
  /** IP address that the peer's signalling comes from: a phone behind a NAT sends its RTP from there too. */
  readonly signallingAddress?: string | undefined;
  /** Address of the SDP where `address` is '': RTP from there is accepted, and only then answered. A host name is ignored. */
  readonly describedAddress?: string | undefined;
  /**
   * RTP is accepted from hosts other than those of the SDP and the signalling, unless both name the same host. Default: false.
   * With ICE or DTLS it is true: checks and keys prove the source.
   */
  readonly acceptOtherSources?: boolean;
}

/** A peer whose RTP comes from, and goes to, another address than before. */
export interface SourceChange {
  readonly address: string;
  readonly port: number;
  readonly reason:
    | 'learned' // the first that was believed, and not the address of the SDP
    | 'signalled' // the address of the SDP took the leg back
    | 'moved' // the same stream goes on from elsewhere
    | 'preferred' // one at a host that signalling names, instead of one at another
    | 'replaced'; // the one before had been silent for long
}

export interface MediaLegEvents {
  /** One per keypad press, whatever way it came in. `asTone`: it was heard within the audio, and is there still. */
  dtmf(digit: string, asTone?: boolean): void;
  sourceChanged?(change: SourceChange): void;
  /** The exchange of keys by DTLS is over; `fault`: why there are none. */
  secured?(fault: string | undefined): void;
  /** No RTP for the configured time (hold excepted), which was over `lateMs` ago. */
  silent(lateMs: number): void;
}

/** `finished` never rejects. 'stopped': stop() or the leg closed. */
export interface Playback {
  readonly finished: Promise<'completed' | 'stopped'>;
  stop(): void;
}

/** A cadence of tones: each step plays its frequencies (sum) for `onMs`, then rests `offMs`. */
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
  /** Times to play; 0 = until stopped. */
  readonly loop: number;
  /** Over what the leg would hear anyway, or in the place of its far end: bots are heard beside it then too. */
  readonly mix: boolean;
  /** Nothing else is heard, bots neither: what they have to say waits. Means something without `mix` only. */
  readonly alone?: boolean;
}

export interface RecordOptions {
  /** Absolute path of a WAV file to be written (crash-safe header). */
  readonly path: string;
  /** What is heard from the peer, what the peer hears, or both (stereo: left = received, right = sent). */
  readonly channels: 'received' | 'sent' | 'both';
  readonly stereo: boolean;
  /** Ends after so much silence from the peer; 0 = never. */
  readonly silenceEndMs: number;
  readonly maxMs: number;
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

/** Timing parameters of dialect §6 AMD, all milliseconds but `maximumWords`. */
export interface MachineDetectionOptions {
  readonly totalMs: number;
  readonly initialSilenceMs: number;
  readonly greetingMs: number;
  readonly maximumWords: number;
  readonly maximumWordMs: number;
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
  /** Forces in-band tones; default: RFC 4733 when negotiated, else in-band. */
  readonly inband: boolean;
}

export interface MediaLeg {
  /** Where the peer is to send RTP. */
  readonly address: string;
  readonly port: number;
  /** Where one with ICE is to send everything, by UDP or TCP; undefined: to `port`, by UDP alone. */
  readonly icePort?: number | undefined;
  /** Where RTP goes, by the last session; undefined: not known yet. */
  readonly remote?: { readonly address: string; readonly port: number } | undefined;
  /**
   * First call starts the leg; later ones (re-INVITE) change it without losing stream or playback state. With an empty
   * address nothing is sent until the peer's own packets show where it is.
   */
  configure(session: MediaSession): void;
  /** At which it hears and speaks: what is played to it needs no more. */
  readonly rate: LineRate;
  play(pcm: Pcm, options: PlayOptions): Playback;
  playTone(tone: Tone, options: PlayOptions): Playback;
  /** `0-9*#A-D`, `w` = 0.5 s, `W` = 1 s. Resolves when the last one has left. */
  sendDigits(digits: string, options: DigitsOptions): Promise<void>;
  /**
   * A keypad press of the peer that came by signalling: told to streams and by `dtmf` like one of the audio path, and
   * only once when the peer sends it both ways.
   */
  pressed(digit: string): void;
  /**
   * Whether keypad tones within the peer's audio are told as presses, where telephone-event does not bring them: no, until
   * somebody wants them. An open stream hears them in any case.
   */
  hearTones(wanted: boolean): void;
  openStream(options: MediaStreamOptions, events: MediaStreamEvents): MediaStream;
  record(options: RecordOptions): MediaRecording;
  detectMachine(options: MachineDetectionOptions): Promise<MachineDetectionResult>;
  /** Resolves when the peer has been silent for `ms`, or with false after `maxMs`. */
  waitForSilence(ms: number, maxMs: number, signal: AbortSignal): Promise<boolean>;
  quality(): MediaQuality;
  /**
   * Frees the ports, which rest before they are used again, the longer the likelier something still comes to them; ends
   * playbacks, streams and recordings. Idempotent.
   */
  close(peer?: PeerAtEnd): MediaQuality;
}

export interface Bridge {
  close(): void;
}

/** What is not named stays as it is. */
export interface MemberFlags {
  readonly muted?: boolean;
  readonly deaf?: boolean;
  readonly held?: boolean;
  /** Heard by coached members alone, and by no recording. */
  readonly whispers?: boolean;
  readonly coached?: boolean;
}

export interface RoomMember {
  set(flags: MemberFlags): void;
  leave(): void;
}

export interface MediaRoom {
  join(leg: MediaLeg, flags: { readonly muted: boolean; readonly deaf: boolean }): RoomMember;
  /** Of the member with the highest. */
  readonly rate: LineRate;
  /** Heard by everybody in the room. */
  play(pcm: Pcm, options: PlayOptions): Playback;
  playTone(tone: Tone, options: PlayOptions): Playback;
  record(path: string): MediaRecording;
  close(): void;
}

export interface RoomEvents {
  /** Member that holds the floor changed (energy); undefined: nobody speaks. */
  floor(member: RoomMember | undefined): void;
}

export interface MediaLegOptions {
  readonly mediaTimeoutMs: number;
  /** One that it will speak with, should it come to that: the way between them is shorter. */
  readonly near?: MediaLeg | undefined;
}

export interface Media {
  /** RTP can be sent to IPv6 addresses too. */
  readonly ipv6?: boolean;
  /** Of our certificate, for `a=fingerprint`: `sha-256 AB:…`. Undefined: no keys by DTLS. */
  readonly fingerprint?: string | undefined;
  /** Rejects with ServiceError MEDIA_NO_PORTS or MEDIA_UNAVAILABLE. */
  openLeg(options: MediaLegOptions, events: MediaLegEvents): Promise<MediaLeg>;
  /** Both hear each other; everything else (recordings, streams) goes on. */
  bridge(a: MediaLeg, b: MediaLeg): Bridge;
  openRoom(events: RoomEvents): MediaRoom;
}

// ---------------------------------------------------------------- audio-stream sockets

export interface AudioStreams {
  /** Connects as a WebSocket client, speaks the whole protocol, moves audio between socket and `leg`. */
  open(options: StreamSocketOptions, leg: MediaLeg, events: StreamSocketEvents): StreamSocket;
}

// ---------------------------------------------------------------- words from speech

export interface Recognizer {
  /** Hears what the peer of a leg says, until the end of the first utterance. Never throws. */
  listen(leg: Pick<MediaLeg, 'openStream'>, options: ListenOptions): Listening;
  /** The words of a whole WAV or MP3 file. Never rejects. */
  transcribe(
    file: Uint8Array,
    request: RecognitionRequest,
  ): Promise<Result<Transcript, RecognitionProblem>>;
}
