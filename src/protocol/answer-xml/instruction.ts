/**
 * The typed instructions of an answer document (spec "Answer-XML instructions", dialect §2). Every default and range is
 * already applied: an interpreter never looks at an attribute. Durations are milliseconds, whatever unit the XML used.
 * An attribute that is absent or empty is `undefined` here unless it has a default.
 */

export type XmlHttpMethod = 'GET' | 'POST';
export type XmlPairs = ReadonlyArray<readonly [name: string, value: string]>;

/** Something the document says that has no effect or another effect than its author may expect; for the call's log. */
export interface XmlWarning {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface Sourced {
  /** Line of the element's start tag, from 1. */
  readonly line: number;
  /** Of the element and its children, in document order. */
  readonly warnings: readonly XmlWarning[];
}

/** What happens with the answer of an `action` URL; dialect §2.0. */
interface WithAction {
  readonly action: string | undefined;
  readonly method: XmlHttpMethod;
  /** True: the XML that `action` returns replaces the rest of the document. */
  readonly redirect: boolean;
}

interface WithCallback {
  readonly callbackUrl: string | undefined;
  readonly callbackMethod: XmlHttpMethod;
}

export interface SpeakInstruction extends Sourced {
  readonly kind: 'speak';
  /** The words alone, white space collapsed. May be empty: there is nothing to say. */
  readonly text: string;
  /** The content as well-formed SSML, without a `speak` root, when it has SSML elements. */
  readonly ssml: string | undefined;
  readonly voice: string;
  readonly language: string;
  /** Times to speak; 0 = until the call ends. */
  readonly loop: number;
}

export interface PlayInstruction extends Sourced {
  readonly kind: 'play';
  /** Absolute http(s) URL of a WAV or MP3 file. */
  readonly url: string;
  /** Times to play; 0 = until the call ends. */
  readonly loop: number;
}

export interface WaitInstruction extends Sourced {
  readonly kind: 'wait';
  readonly lengthMs: number;
  /** Ends early once the caller was silent for so long; undefined: always waits the whole length. */
  readonly untilSilenceMs: number | undefined;
  /** Ends early at a beep. */
  readonly beep: boolean;
}

export interface DtmfInstruction extends Sourced {
  readonly kind: 'dtmf';
  /** `0-9*#A-D`, `w` = 0.5 s, `W` = 1 s. */
  readonly digits: string;
  /** True: the next element starts at once. */
  readonly async: boolean;
}

export type PromptInstruction = SpeakInstruction | PlayInstruction | WaitInstruction;

/** `GetDigits`, `GetInput` and `Gather`: one instruction, three sets of defaults (dialect §2.1). */
export interface GatherInstruction extends Sourced, WithAction {
  readonly kind: 'gather';
  readonly element: 'GetDigits' | 'GetInput' | 'Gather';
  readonly acceptsDigits: boolean;
  readonly acceptsSpeech: boolean;
  /** From the end of the prompts to the first input. */
  readonly firstInputTimeoutMs: number;
  /** From one digit to the next. */
  readonly interDigitTimeoutMs: number;
  /** From the end of speech to the end of input. */
  readonly speechEndTimeoutMs: number;
  readonly numDigits: number;
  /** Set of keys that end the input; '' = none. */
  readonly finishOnKey: string;
  /** Keys pressed before the prompts began count too. */
  readonly typeAhead: boolean;
  /** Set of keys that are valid input. */
  readonly validDigits: string;
  /** Attempts in all, at least 1. */
  readonly attempts: number;
  readonly playBeep: boolean;
  readonly invalidDigitsSound: string | undefined;
  /** True (`Gather`): `action` is called with empty input after the last attempt; false: the document goes on. */
  readonly reportsNoInput: boolean;
  /** False: digits must not be written to any log. */
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
  /** Of this leg alone; undefined: that of the `Dial`. */
  readonly callerId: string | undefined;
  readonly callerName: string | undefined;
  /** Digits (with `w`, `W`) sent once the B leg has answered. */
  readonly sendDigits: string | undefined;
  /** True: already on early media. */
  readonly sendOnPreanswer: boolean;
  readonly sendDigitsMode: 'rfc2833' | 'inband' | undefined;
  /** Names without the X-VH-/X-PH- prefix; `Dial`'s own pairs are merged in (the child's win). */
  readonly sipHeaders: XmlPairs;
}

export interface NumberDestination extends DialDestinationCommon {
  readonly kind: 'number';
  /** Digits, with a leading `+` when the document wrote one; separators are removed. */
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

/** What the A leg hears until the B leg answers. */
export type DialMusic =
  | { readonly kind: 'ringback' }
  /** Early media of the B leg. */
  | { readonly kind: 'real' }
  /** An audio file, or XML with Play, Speak and Wait. */
  | { readonly kind: 'url'; readonly url: string };

export interface DialInstruction extends Sourced, WithAction, WithCallback {
  readonly kind: 'dial';
  readonly callerId: string | undefined;
  readonly callerName: string | undefined;
  /** Ringing at most; default 120 s. */
  readonly timeoutMs: number;
  /** From the answer of the B leg; at most 24 h. */
  readonly timeLimitMs: number;
  readonly hangupOnStar: boolean;
  readonly dialMusic: DialMusic;
  /** URL of audio or XML played to the B leg before the bridge. */
  readonly confirmSound: string | undefined;
  /** The B leg must press this key; undefined: the sound alone. */
  readonly confirmKey: string | undefined;
  readonly confirmTimeoutMs: number;
  readonly digitsMatch: readonly string[];
  readonly digitsMatchBLeg: readonly string[];
  /** At least one; several ring at the same time. */
  readonly destinations: readonly DialDestination[];
}

export interface RecordInstruction extends Sourced, WithAction, WithCallback {
  readonly kind: 'record';
  readonly fileFormat: 'mp3' | 'wav';
  /** Ends after so much silence; 0 = never. Without effect on session recordings. */
  readonly silenceTimeoutMs: number;
  readonly maxLengthMs: number;
  readonly playBeep: boolean;
  /** Set of keys that end the recording; '' = none. */
  readonly finishOnKey: string;
  /** The whole session in the background. */
  readonly recordSession: boolean;
  /** In the background, from the moment at which a `Dial` is answered. */
  readonly startOnDialAnswer: boolean;
  readonly channels: 'mono' | 'stereo';
  readonly transcriptionType: 'auto' | 'hybrid' | undefined;
  readonly transcriptionUrl: string | undefined;
  readonly transcriptionMethod: XmlHttpMethod;
}

export interface StreamInstruction extends Sourced {
  readonly kind: 'stream';
  /** `wss://…`, or `ws://…` where allowed; user information in it is kept. */
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
  /** The attribute as written, for status callbacks. */
  readonly extraHeadersText: string;
  readonly maxRetries: number;
  readonly name: string | undefined;
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
  /** False: a member that is left alone is dropped. */
  readonly stayAlone: boolean;
  /** URL of XML with Speak, Play and Wait, heard until the conference starts. */
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
  /** Of a `MultiPartyCall`, which is a room of its own kind. */
  readonly party: PartyRules | undefined;
}

export type PartyRole = 'agent' | 'supervisor' | 'customer';

interface PartyTarget {
  readonly url: string;
  readonly method: XmlHttpMethod;
}

export interface PartyRules {
  readonly role: PartyRole;
  /** Of the whole multi-party call, from its first member on. */
  readonly maxDurationMs: number;
  /** Who waits for longer leaves; 0: nobody does. */
  readonly waitLimitMs: number;
  /** Of a supervisor: heard by agents alone. */
  readonly coachMode: boolean;
  readonly hold: boolean;
  /** URL of audio or XML, heard on hold. */
  readonly holdMusic: string | undefined;
  readonly holdMethod: XmlHttpMethod;
  readonly statusCallback: PartyTarget | undefined;
  /** Groups of events that it is told. */
  readonly events: ReadonlySet<string>;
  readonly recordingCallback: PartyTarget | undefined;
  readonly transcription:
    | { readonly url: string | undefined; readonly method: XmlHttpMethod }
    | undefined;
}

/** Whom the peer is asked to call itself (REFER). */
export interface ReferInstruction extends Sourced, WithAction {
  readonly kind: 'refer';
  readonly destination:
    | { readonly kind: 'number'; readonly number: string }
    | { readonly kind: 'sip'; readonly uri: string };
  /** To the outcome. */
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
  /** Hang up after so long while the document goes on; undefined: now. */
  readonly scheduleMs: number | undefined;
}

/** Accepted for documents written for other services; there is no messaging here. */
export interface MessageInstruction extends Sourced, WithCallback {
  readonly kind: 'message';
  readonly source: string;
  readonly destinations: readonly string[];
  readonly text: string;
}

export type Instruction =
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
  | PreAnswerInstruction
  | HangupInstruction
  | MessageInstruction;

export type InstructionKind = Instruction['kind'];

/**
 * Why a document cannot run. `fault` tells the hangup cause: the document itself (8011…8014), or an `action` or `Redirect`
 * that names an unusable URL (7022, 7024) or method (7032, 7034); dialect §3.12.
 */
export interface XmlProblem {
  readonly fault: 'document' | 'actionUrl' | 'actionMethod' | 'redirectUrl' | 'redirectMethod';
  /** From 1; the column counts UTF-16 units. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What a valid document has at this place. */
  readonly expected: string;
}

export interface AnswerXmlOptions {
  /** Whether `ws://` is accepted beside `wss://` in `Stream`. */
  readonly allowInsecureStreams: boolean;
}
