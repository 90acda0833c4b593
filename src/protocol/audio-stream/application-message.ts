/**
 * Parses messages from the application to the service (dialect §1.2) from bytes to typed values. The media engine
 * consumes nearly every `playAudio` first. This reader handles the remaining messages and reports errors.
 */
import type { StreamId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { isBase64, truncate } from '../../base/text.ts';
import {
  readNote,
  readTransfer,
  type StreamNote,
  type StreamTransfer,
} from './extension-message.ts';
import { fault, type StreamFault } from './fault.ts';
import { type PlaybackFormat, playbackFormat, type StreamFormat } from './media-format.ts';

export type ApplicationMessage =
  | { readonly event: 'playAudio'; readonly format: PlaybackFormat; readonly payload: Uint8Array }
  | { readonly event: 'checkpoint'; readonly name: string }
  | { readonly event: 'clearAudio' }
  | { readonly event: 'sendDTMF'; readonly digits: string }
  | { readonly event: 'note'; readonly note: StreamNote }
  | { readonly event: 'transfer'; readonly transfer: StreamTransfer }
  | { readonly event: 'cancelTransfer' }
  /** Pauses or resumes the recordings of the call. */
  | { readonly event: 'pauseRecording' | 'resumeRecording' }
  /** `drain` delays the stop until all queued audio has been played. */
  | { readonly event: 'stop'; readonly drain: boolean };

export interface ReaderContext {
  readonly streamId: StreamId;
  readonly format: StreamFormat;
  /** Whether the document allows `note`. Without it, the event is unknown. */
  readonly notes?: boolean;
  /** Whether the document allows `transfer` and `cancelTransfer`. Without it, the events are unknown. */
  readonly transfers?: boolean;
}

/** Maximum length of a checkpoint name in UTF-16 units. The name is kept until the checkpoint completes. */
export const MAX_CHECKPOINT_NAME = 1024;
/** Maximum number of digits in one `sendDTMF`. */
export const MAX_DTMF_DIGITS = 100;
/**
 * Maximum number of commas, and of opening brackets, in one message. Megabytes of audio form one string, which the JSON
 * parser reads quickly. Megabytes of tiny values would block all calls for a large part of a second.
 */
export const MAX_MESSAGE_PARTS = 4096;

type JsonObject = Readonly<Record<string, unknown>>;
type Reader = (
  message: JsonObject,
  context: ReaderContext,
) => Result<ApplicationMessage, StreamFault>;

/** Readers by event name, including aliases from bots written for another service. */
const READERS: Readonly<Record<string, Reader>> = Object.assign(Object.create(null), {
  playAudio: readPlayAudio,
  media: readPlayAudio,
  checkpoint: readCheckpoint,
  mark: readCheckpoint,
  clearAudio: () => ok({ event: 'clearAudio' }),
  clear: () => ok({ event: 'clearAudio' }),
  sendDTMF: readSendDtmf,
  note: (message) => {
    const note = readNote(message);
    return note.ok ? ok({ event: 'note', note: note.value }) : note;
  },
  transfer: (message) => {
    const transfer = readTransfer(message);
    return transfer.ok ? ok({ event: 'transfer', transfer: transfer.value }) : transfer;
  },
  cancelTransfer: () => ok({ event: 'cancelTransfer' }),
  pauseRecording: () => ok({ event: 'pauseRecording' }),
  resumeRecording: () => ok({ event: 'resumeRecording' }),
  stop: ({ drain }) => ok({ event: 'stop', drain: drain === true }),
} satisfies Record<string, Reader>);

const DTMF_DIGITS = /^[0-9*#A-DwW]+$/;

export function readApplicationMessage(
  bytes: Uint8Array,
  context: ReaderContext,
): Result<ApplicationMessage, StreamFault> {
  const message = parseObject(bytes);
  if (!message.ok) return message;
  const { event, streamId } = message.value;
  if (typeof event !== 'string') {
    return err(fault('invalid_message', 'the message has no "event", or it is not a string'));
  }
  const read = READERS[event];
  if (read === undefined || !isAllowed(event, context)) {
    return err(fault('invalid_message', `unknown event "${truncate(event, 64)}"`));
  }
  if (streamId !== undefined && streamId !== null && streamId !== context.streamId) {
    return err(fault('invalid_message', `"${event}" names another stream than this socket's`));
  }
  return read(message.value, context);
}

const TRANSFERS = ['transfer', 'cancelTransfer'];

const isAllowed = (event: string, { notes, transfers }: ReaderContext): boolean =>
  (event !== 'note' || notes === true) && (!TRANSFERS.includes(event) || transfers === true);

const PART_BEGINNINGS = [...',[{'].map((sign) => sign.charCodeAt(0));

function hasTooManyParts(bytes: Uint8Array): boolean {
  return PART_BEGINNINGS.some((sign) => {
    let at = bytes.indexOf(sign);
    for (let count = 0; at >= 0; at = bytes.indexOf(sign, at + 1)) {
      count += 1;
      if (count > MAX_MESSAGE_PARTS) return true;
    }
    return false;
  });
}

function parseObject(bytes: Uint8Array): Result<JsonObject, StreamFault> {
  if (bytes.length > MAX_MESSAGE_PARTS && hasTooManyParts(bytes)) {
    return err(fault('invalid_message', 'the message has too many parts'));
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    // The parser's message quotes the input, which may contain any character.
    const why =
      error instanceof SyntaxError
        ? error.message.replace(/[^\x20-\x7e]/g, '?')
        : 'it is not UTF-8 text';
    return err(fault('invalid_message', `the message is not JSON: ${truncate(why, 120)}`));
  }
  return isObject(value)
    ? ok(value)
    : err(fault('invalid_message', 'the message is not an object'));
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readPlayAudio(
  { media }: JsonObject,
  { format: own }: ReaderContext,
): Result<ApplicationMessage, StreamFault> {
  if (!isObject(media)) return err(fault('invalid_message', 'playAudio has no "media" object'));
  const format = playbackFormat(media['contentType'], media['sampleRate'], own);
  if (!format.ok) return err(fault('unsupported_format', format.error));
  const payload = decodeBase64(media['payload']);
  if (!payload.ok) return payload;
  return ok({ event: 'playAudio', format: format.value, payload: payload.value });
}

function decodeBase64(text: unknown): Result<Uint8Array, StreamFault> {
  if (typeof text !== 'string') {
    return err(fault('invalid_payload', 'media.payload must be a base64 string'));
  }
  if (!isBase64(text)) return err(fault('invalid_payload', 'media.payload is not base64'));
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  const unpadded = text.length - padding;
  if (unpadded % 4 === 1) return err(fault('invalid_payload', 'media.payload is not base64'));
  if (unpadded === 0) return err(fault('invalid_payload', 'media.payload is empty'));
  return ok(Buffer.from(text, 'base64'));
}

function readCheckpoint(message: JsonObject): Result<ApplicationMessage, StreamFault> {
  const { mark } = message;
  const name = isObject(mark) ? mark['name'] : message['name'];
  if (typeof name !== 'string') {
    return err(fault('invalid_message', 'checkpoint has no "name", or it is not a string'));
  }
  if (name.length > MAX_CHECKPOINT_NAME) {
    return err(
      fault('invalid_message', `checkpoint name is longer than ${MAX_CHECKPOINT_NAME} characters`),
    );
  }
  return ok({ event: 'checkpoint', name });
}

function readSendDtmf({ dtmf }: JsonObject): Result<ApplicationMessage, StreamFault> {
  const digits = isObject(dtmf) ? (dtmf['digits'] ?? dtmf['digit']) : dtmf;
  if (typeof digits !== 'string' || !DTMF_DIGITS.test(digits)) {
    return err(fault('invalid_message', 'sendDTMF takes digits of 0-9 * # A-D, w and W'));
  }
  if (digits.length > MAX_DTMF_DIGITS) {
    return err(fault('invalid_message', `sendDTMF takes at most ${MAX_DTMF_DIGITS} digits`));
  }
  return ok({ event: 'sendDTMF', digits });
}
