/**
 * Typed instructions of an answer document (spec "Answer-XML instructions", dialect §2). Defaults and ranges are
 * already applied, so an interpreter never reads attributes. Durations are in milliseconds. An absent or empty
 * attribute is `undefined` unless it has a default.
 */
import type { ConsentInstruction, TransferInstruction } from './extension-instruction.ts';
import type {
  Sourced,
  WithAction,
  WithCallback,
  XmlHttpMethod,
  XmlPairs,
} from './instruction-parts.ts';

export type * from './extension-instruction.ts';
export type { XmlHttpMethod, XmlPairs, XmlWarning } from './instruction-parts.ts';

export interface SpeakInstruction extends Sourced {
  readonly kind: 'speak';
  /** Plain text with collapsed white space. Empty text is not spoken. */
  readonly text: string;
  /** Content as well-formed SSML without a `speak` root, or undefined if it has no SSML elements. */
  readonly ssml: string | undefined;
  readonly voice: string;
  readonly language: string;
  /** Number of times to speak the text; 0 repeats it until the call ends. */
  readonly loop: number;
}

export interface PlayInstruction extends Sourced {
  readonly kind: 'play';
  /** Absolute http(s) URL of a WAV or MP3 file. */
  readonly url: string;
  /** Number of times to play the file; 0 repeats it until the call ends. */
  readonly loop: number;
}

export interface WaitInstruction extends Sourced {
  readonly kind: 'wait';
  readonly lengthMs: number;
  /** Silence of the caller, in milliseconds, that ends the wait early. Undefined disables early ending. */
  readonly untilSilenceMs: number | undefined;
  /** True if a beep ends the wait early. */
  readonly beep: boolean;
}

export interface DtmfInstruction extends Sourced {
  readonly kind: 'dtmf';
  /** Digits to send: `0-9*#A-D`; `w` waits 0.5 s and `W` waits 1 s. */
  readonly digits: string;
  /** True if the next element starts without waiting for the digits. */
  readonly async: boolean;
}

export type PromptInstruction = SpeakInstruction | PlayInstruction | WaitInstruction;

/** Instruction for `GetDigits`, `GetInput` and `Gather`, which differ only in their defaults (dialect §2.1). */
export interface GatherInstruction extends Sourced, WithAction {
  readonly kind: 'gather';
  readonly element: 'GetDigits' | 'GetInput' | 'Gather';
  readonly acceptsDigits: boolean;
  readonly acceptsSpeech: boolean;
  /** Time from the end of the prompts to the first input, in milliseconds. */
  readonly firstInputTimeoutMs: number;
  /** Time between two digits, in milliseconds. */
  readonly interDigitTimeoutMs: number;
  /** Time from the end of speech to the end of input, in milliseconds. */
  readonly speechEndTimeoutMs: number;
  readonly numDigits: number;
  /** Set of keys that end the input; empty if no key does. */
  readonly finishOnKey: string;
  /** True if keys pressed before the prompts count as input. */
  readonly typeAhead: boolean;
  /** Set of keys accepted as input. */
  readonly validDigits: string;
  /** Total number of attempts, at least 1. */
  readonly attempts: number;
  readonly playBeep: boolean;
  readonly invalidDigitsSound: string | undefined;
  /** True (`Gather`) if `action` is called with empty input after the last attempt. Otherwise the document continues. */
  readonly reportsNoInput: boolean;
  /** False if digits must not be written to any log. */
  readonly log: boolean;
  readonly language: string;
  readonly speechModel: 'default' | 'command_and_search' | 'phone_call';
  readonly hints: readonly string[];
  readonly profanityFilter: boolean;
  readonly interimSpeechResultsCallback: string | undefined;
  readonly interimSpeechResultsCallbackMethod: XmlHttpMethod;
  readonly prompts: readonly PromptInstruction[];
}

interface DialDestinationCommon {
  readonly line: number;
  /** Caller ID for this leg; undefined uses that of the `Dial`. */
  readonly callerId: string | undefined;
  readonly callerName: string | undefined;
  /** Digits (with `w`, `W`) to send after the B leg has answered. */
  readonly sendDigits: string | undefined;
  /** True if `sendDigits` starts during early media. */
  readonly sendOnPreanswer: boolean;
  readonly sendDigitsMode: 'rfc2833' | 'inband' | undefined;
  /** Header names without the X-VH-/X-PH- prefix. Pairs of `Dial` are merged in; pairs of the child take precedence. */
  readonly sipHeaders: XmlPairs;
}

export interface NumberDestination extends DialDestinationCommon {
  readonly kind: 'number';
  /** Digits without separators, with a leading `+` if the document has one. */
  readonly number: string;
}

export interface UserDestination extends DialDestinationCommon {
  readonly kind: 'user';
  /** `sip:` or `sips:` URI as written. */
  readonly uri: string;
  readonly sipAuthUsername: string | undefined;
  readonly sipAuthPassword: string | undefined;
}

export type DialDestination = NumberDestination | UserDestination;

/** Audio for the A leg until the B leg answers. */
export type DialMusic =
  | { readonly kind: 'ringback' }
  /** Early media of the B leg. */
  | { readonly kind: 'real' }
  /** URL of an audio file, or of XML with Play, Speak and Wait. */
  | { readonly kind: 'url'; readonly url: string };

export interface DialInstruction extends Sourced, WithAction, WithCallback {
  readonly kind: 'dial';
  readonly callerId: string | undefined;
  readonly callerName: string | undefined;
  /** Longest ringing time in milliseconds. Default: 120 s. */
  readonly timeoutMs: number;
  /** Longest call time after the B leg answers, in milliseconds; at most 24 h. */
  readonly timeLimitMs: number;
  readonly hangupOnStar: boolean;
  readonly dialMusic: DialMusic;
  /** URL of audio or XML to play to the B leg before the bridge. */
  readonly confirmSound: string | undefined;
  /** Key that the B leg must press; undefined requires no key. */
  readonly confirmKey: string | undefined;
  readonly confirmTimeoutMs: number;
  readonly digitsMatch: readonly string[];
  readonly digitsMatchBLeg: readonly string[];
  /** Destinations to ring at the same time; at least one. */
  readonly destinations: readonly DialDestination[];
}

export interface RecordInstruction extends Sourced, WithAction, WithCallback {
  readonly kind: 'record';
  readonly fileFormat: 'mp3' | 'wav';
  /** Silence that ends the recording, in milliseconds; 0 disables it. No effect on session recordings. */
  readonly silenceTimeoutMs: number;
  readonly maxLengthMs: number;
  readonly playBeep: boolean;
  /** Set of keys that end the recording; empty if no key does. */
  readonly finishOnKey: string;
  /** True if the whole session is recorded in the background. */
  readonly recordSession: boolean;
  /** True if background recording starts when a `Dial` is answered. */
  readonly startOnDialAnswer: boolean;
  /** True if the recording contains the ringback that the caller hears before a `Dial` is answered. */
  readonly recordRingback: boolean;
  readonly channels: 'mono' | 'stereo';
  readonly transcriptionType: 'auto' | 'hybrid' | undefined;
  readonly transcriptionUrl: string | undefined;
  readonly transcriptionMethod: XmlHttpMethod;
}

/** Detection of the caller's speech in an audio stream. */
export interface StreamSpeech {
  /** Sends `speechStarted` and `speechStopped` to the bot. */
  readonly events: boolean;
  /** Effect of the caller's speech on the bot's audio: none, 15 dB quieter, or the queue is cleared. */
  readonly bargeIn: BargeIn;
  /** 0 detects only loud and clear speech, 100 also quiet speech in noise. */
  readonly sensitivity: number;
  /** Minimum duration of speech in ms before it is reported, 20–1000. */
  readonly minimumMs: number;
  /** Silence in ms after which speech has ended, 200–5000. */
  readonly endMs: number;
}

type BargeIn = 'none' | 'duck' | 'clear';

export interface StreamInstruction extends Sourced {
  readonly kind: 'stream';
  /** URL starting with `wss://`, or `ws://` where allowed. User information is kept. */
  readonly url: string;
  readonly bidirectional: boolean;
  readonly audioTrack: 'inbound' | 'outbound' | 'both';
  readonly keepCallAlive: boolean;
  readonly encoding: 'audio/x-l16' | 'audio/x-mulaw';
  readonly rate: 8000 | 16000;
  readonly timeoutMs: number;
  readonly statusCallbackUrl: string | undefined;
  readonly statusCallbackMethod: XmlHttpMethod;
  readonly extraHeaders: XmlPairs;
  /** Attribute text as written, for status callbacks. */
  readonly extraHeadersText: string;
  readonly maxRetries: number;
  readonly name: string | undefined;
  /** Undefined: speech is not detected. */
  readonly speech: StreamSpeech | undefined;
  /** Whether `playedStream` and `clearedAudio` report the position of playback. */
  readonly playPositions: boolean;
  /** Whether the bot may add texts to the timeline of the call with `note`. */
  readonly notes: boolean;
  /** Whether the bot may transfer the caller with `transfer`. */
  readonly transfers: boolean;
  /** Cleaning of the caller's audio for the bot; absent: none. */
  readonly clean?: { readonly noise: boolean; readonly echo: boolean; readonly gain: boolean };
  /** Text spoken to the caller before the stream opens; undefined: none. */
  readonly disclosure: string | undefined;
}

export type ConferenceSound =
  | { readonly kind: 'none' }
  | { readonly kind: 'beep'; readonly count: 1 | 2 }
  | { readonly kind: 'url'; readonly url: string };

export interface ConferenceInstruction extends Sourced, WithAction, WithCallback {
  readonly kind: 'conference';
  /** Case-sensitive name of the room. */
  readonly room: string;
  readonly muted: boolean;
  readonly enterSound: ConferenceSound;
  readonly exitSound: ConferenceSound;
  readonly startConferenceOnEnter: boolean;
  readonly endConferenceOnExit: boolean;
  /** False if the last remaining member is removed. */
  readonly stayAlone: boolean;
  /** URL of XML with Play, Speak and Wait, played until the conference starts. */
  readonly waitSound: string | undefined;
  readonly waitMethod: XmlHttpMethod;
  readonly maxMembers: number;
  readonly timeLimitMs: number;
  readonly hangupOnStar: boolean;
  readonly record: boolean;
  readonly recordFileFormat: 'mp3' | 'wav';
  readonly recordWhenAlone: boolean;
  readonly digitsMatch: readonly string[];
  readonly relayDtmf: boolean;
  readonly floorEvent: boolean;
  readonly sendDigits: string | undefined;
  /** Rules of a `MultiPartyCall`; undefined for an ordinary conference. */
  readonly party: PartyRules | undefined;
}

type PartyRole = 'agent' | 'supervisor' | 'customer';

interface PartyTarget {
  readonly url: string;
  readonly method: XmlHttpMethod;
}

interface PartyRules {
  readonly role: PartyRole;
  /** Longest duration of the multi-party call in milliseconds, counted from its first member. */
  readonly maxDurationMs: number;
  /** Longest waiting time of a member, in milliseconds; 0 is unlimited. */
  readonly waitLimitMs: number;
  /** True if only agents hear this supervisor. */
  readonly coachMode: boolean;
  readonly hold: boolean;
  /** URL of audio or XML played on hold. */
  readonly holdMusic: string | undefined;
  readonly holdMethod: XmlHttpMethod;
  readonly statusCallback: PartyTarget | undefined;
  /** Event groups to report to the callback. */
  readonly events: ReadonlySet<string>;
  readonly recordingCallback: PartyTarget | undefined;
  readonly transcription:
    | { readonly url: string | undefined; readonly method: XmlHttpMethod }
    | undefined;
}

/** Asks the peer to call another target (REFER). */
export interface ReferInstruction extends Sourced, WithAction {
  readonly kind: 'refer';
  readonly destination:
    | { readonly kind: 'number'; readonly number: string }
    | { readonly kind: 'sip'; readonly uri: string };
  /** Longest wait for the outcome, in milliseconds. */
  readonly timeoutMs: number;
}

export interface RedirectInstruction extends Sourced {
  readonly kind: 'redirect';
  readonly url: string;
  readonly method: XmlHttpMethod;
}

export type PreAnswerChild =
  | PromptInstruction
  | GatherInstruction
  | DtmfInstruction
  | RedirectInstruction
  | MessageInstruction;

export interface PreAnswerInstruction extends Sourced {
  readonly kind: 'preAnswer';
  readonly children: readonly PreAnswerChild[];
}

export interface HangupInstruction extends Sourced {
  readonly kind: 'hangup';
  readonly reason: 'rejected' | 'busy' | undefined;
  /** Delay before the hangup, in milliseconds, while the document continues; undefined hangs up immediately. */
  readonly scheduleMs: number | undefined;
}

/** Pauses or resumes all recordings of the call. */
export interface RecordingSwitchInstruction extends Sourced {
  readonly kind: 'recordingSwitch';
  readonly isPaused: boolean;
}

/** Accepted but ignored, for documents written for services with messaging. */
export interface MessageInstruction extends Sourced, WithCallback {
  readonly kind: 'message';
  readonly source: string;
  readonly destinations: readonly string[];
  readonly text: string;
}

export type Instruction =
  | RecordingSwitchInstruction
  | SpeakInstruction
  | PlayInstruction
  | WaitInstruction
  | DtmfInstruction
  | GatherInstruction
  | DialInstruction
  | RecordInstruction
  | StreamInstruction
  | ConferenceInstruction
  | RedirectInstruction
  | ReferInstruction
  | TransferInstruction
  | ConsentInstruction
  | PreAnswerInstruction
  | HangupInstruction
  | MessageInstruction;

/**
 * Reason why a document cannot run. `fault` selects the hangup cause (dialect §3.12): an invalid document (8011…8014),
 * or an `action` or `Redirect` with an invalid URL (7022, 7024) or method (7032, 7034).
 */
export interface XmlProblem {
  readonly fault: 'document' | 'actionUrl' | 'actionMethod' | 'redirectUrl' | 'redirectMethod';
  /** Position starting at 1; the column counts UTF-16 units. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Content that is valid at this position. */
  readonly expected: string;
}

export interface AnswerXmlOptions {
  /** True if `Stream` accepts `ws://` in addition to `wss://`. */
  readonly allowInsecureStreams: boolean;
}
