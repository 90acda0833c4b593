/** Audio formats of the stream socket (spec: Bidirectional stream socket; dialect §1.2). */
import { err, ok, type Result } from '../../base/result.ts';

export type StreamEncoding = 'audio/x-l16' | 'audio/x-mulaw';

/** Format sent by the service: L16 at 8000 or 16000 Hz, mu-law at 8000 Hz. 24000 Hz is valid only for playback. */
export interface StreamFormat {
  readonly encoding: StreamEncoding;
  readonly rate: 8000 | 16000;
}

export type PlaybackRate = 8000 | 16000 | 24000;

/** Formats accepted in `playAudio`. */
export interface PlaybackFormat {
  readonly encoding: StreamEncoding;
  readonly rate: PlaybackRate;
}

const L16_NAMES: ReadonlySet<string> = new Set(['audio/x-l16', 'audio/l16', 'audio/pcm', 'raw']);
const MULAW_NAMES: ReadonlySet<string> = new Set([
  'audio/x-mulaw',
  'audio/mulaw',
  'audio/pcmu',
  'audio/basic',
]);
/** Content types without an encoding; the stream's encoding applies. */
const UNSPECIFIC_NAMES: ReadonlySet<string> = new Set(['', 'wav', 'audio/wav', 'audio/x-wav']);

/** Maximum length of a content type; every supported value is far shorter. */
const MAX_CONTENT_TYPE = 256;

/** Splits `audio/x-l16;rate=16000` into its name and its rate (undefined if absent). */
function splitContentType(text: string): { readonly name: string; readonly rate: string } {
  const [name = '', ...parameters] = text.split(';');
  const rate = parameters
    .map((parameter) => parameter.trim().toLowerCase())
    .find((parameter) => parameter.startsWith('rate='));
  return { name: name.trim().toLowerCase(), rate: rate?.slice('rate='.length) ?? '' };
}

/**
 * Format of one `playAudio`. `sampleRate` may be a number or a numeric string and overrides the rate in the content
 * type. Missing values default to the stream's format (dialect §1.2). The error text can be shown to users.
 */
export function playbackFormat(
  contentType: unknown,
  sampleRate: unknown,
  own: StreamFormat,
): Result<PlaybackFormat, string> {
  if (contentType !== undefined && contentType !== null && typeof contentType !== 'string') {
    return err('media.contentType must be a string');
  }
  const { name, rate: rateParameter } = splitContentType(
    (contentType ?? '').slice(0, MAX_CONTENT_TYPE),
  );
  const encoding = encodingOf(name, own);
  if (encoding === undefined) {
    return err(`media.contentType "${name.slice(0, 64)}" is not audio/x-l16 or audio/x-mulaw`);
  }
  const rate = rateOf(sampleRate ?? rateParameter, encoding === own.encoding ? own.rate : 8000);
  if (rate === undefined) return err('media.sampleRate must be 8000, 16000 or 24000');
  if (encoding === 'audio/x-mulaw' && rate !== 8000) {
    return err(`audio/x-mulaw is taken at 8000 Hz only, not at ${rate}`);
  }
  return ok({ encoding, rate });
}

function encodingOf(name: string, own: StreamFormat): StreamEncoding | undefined {
  if (UNSPECIFIC_NAMES.has(name)) return own.encoding;
  if (L16_NAMES.has(name)) return 'audio/x-l16';
  return MULAW_NAMES.has(name) ? 'audio/x-mulaw' : undefined;
}

function rateOf(value: unknown, fallback: PlaybackRate): PlaybackRate | undefined {
  if (value === '' || value === undefined || value === null) return fallback;
  const rate = typeof value === 'string' ? Number(value) : value;
  return rate === 8000 || rate === 16000 || rate === 24000 ? rate : undefined;
}
