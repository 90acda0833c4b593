/** Messages of bots that extend the dialect: `note`, `transfer` and `cancelTransfer`. */
import { err, ok, type Result } from '../../base/result.ts';
import { fault, type StreamFault } from './fault.ts';

/** Text for the timeline of the call: a transcript, or an event of the bot. */
export interface StreamNote {
  readonly kind: 'transcript' | 'agent';
  readonly speaker: 'caller' | 'bot' | undefined;
  readonly text: string;
}

export interface StreamTransfer {
  readonly mode: 'blind' | 'attended' | 'warm';
  /** Number, SIP URI or endpoint. */
  readonly to: string;
  readonly callerId: string | undefined;
  /** URL of the audio that the caller hears while waiting. Undefined: music of the service. */
  readonly music: string | undefined;
  /** Text that the colleague hears before the choice to accept. */
  readonly introduction: string | undefined;
  /** What happens to the stream when the parties are connected. */
  readonly stream: 'end' | 'caller' | 'colleague';
  /** Maximum ringing time, in ms. */
  readonly timeoutMs: number;
  /** After a failed blind transfer, the document continues with the next element, or the stream opens again. */
  readonly onFailure: 'next' | 'stream';
}

type JsonObject = Readonly<Record<string, unknown>>;

const MAX_NOTE = 2000;
const MAX_TEXT = 1000;
const MAX_TO = 512;
const TIMEOUT_S = 30;
const MAX_TIMEOUT_S = 120;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** These texts become parts of SIP headers. */
const isPrintable = (text: string): boolean => !/\p{Cc}/u.test(text);
const refused = (message: string) => err(fault('invalid_message', message));

export function readNote({ note }: JsonObject): Result<StreamNote, StreamFault> {
  if (!isObject(note)) return refused('note has no "note" object');
  const { kind, speaker, text } = note;
  if (kind !== 'transcript' && kind !== 'agent')
    return refused('note.kind must be "transcript" or "agent"');
  if (typeof text !== 'string' || text === '' || text.length > MAX_NOTE)
    return refused(`note.text must have 1 to ${MAX_NOTE} characters`);
  if (speaker !== undefined && speaker !== 'caller' && speaker !== 'bot')
    return refused('note.speaker must be "caller" or "bot"');
  return ok({ kind, speaker, text });
}

export function readTransfer({ transfer }: JsonObject): Result<StreamTransfer, StreamFault> {
  if (!isObject(transfer)) return refused('transfer has no "transfer" object');
  const { mode = 'blind', to, stream = 'end', timeout = TIMEOUT_S } = transfer;
  const { onFailure = 'next' } = transfer;
  if (mode !== 'blind' && mode !== 'attended' && mode !== 'warm')
    return refused('transfer.mode must be "blind", "attended" or "warm"');
  if (typeof to !== 'string' || to === '' || to.length > MAX_TO)
    return refused(`transfer.to must have 1 to ${MAX_TO} characters`);
  if (!isPrintable(to)) return refused('transfer.to contains control characters');
  if (stream !== 'end' && stream !== 'caller' && stream !== 'colleague')
    return refused('transfer.stream must be "end", "caller" or "colleague"');
  if (mode === 'blind' && stream !== 'end') return refused('a blind transfer ends the stream');
  if (typeof timeout !== 'number' || !(timeout >= 1 && timeout <= MAX_TIMEOUT_S))
    return refused(`transfer.timeout must be from 1 to ${MAX_TIMEOUT_S} seconds`);
  if (onFailure !== 'next' && onFailure !== 'stream')
    return refused('transfer.onFailure must be "next" or "stream"');
  const texts: Record<string, string | undefined> = {};
  for (const name of ['callerId', 'music', 'introduction']) {
    const value = transfer[name];
    if (value !== undefined && (typeof value !== 'string' || value.length > MAX_TEXT))
      return refused(`transfer.${name} must be a string of at most ${MAX_TEXT} characters`);
    if (name === 'callerId' && !isPrintable(value ?? ''))
      return refused('transfer.callerId contains control characters');
    texts[name] = value === '' ? undefined : value;
  }
  return ok({
    mode,
    to,
    callerId: texts['callerId'],
    music: texts['music'],
    introduction: texts['introduction'],
    stream,
    timeoutMs: timeout * 1000,
    onFailure,
  });
}
