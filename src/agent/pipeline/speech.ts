/** Speech synthesis: `POST <url>/audio/speech` of OpenAI and compatible servers. */

import { convertRate, l16Bytes, readWav } from '../../phone/audio/wav.ts';
import type { ModelSettings } from '../agent-file.ts';
import type { AgentNetwork } from '../network.ts';
import { chunksWithin, statusOf } from './bounded.ts';

export type SpeechSettings = NonNullable<ModelSettings['speech']>;

/** Rate of the format `pcm`. */
export const SPEECH_RATE_HZ = 24_000;
const MAX_REPLY_BYTES = 32 * 1024 * 1024;
/** Length of the pieces of a WAV file, in bytes (1 s). */
const PIECE_BYTES = SPEECH_RATE_HZ * 2;

/**
 * Yields signed 16-bit mono samples at 24 kHz while the server generates them. A WAV file is converted when it is
 * complete.
 *
 * @throws Error if the request fails or the audio is unusable
 */
export async function* speak(
  { url, apiKey, model, voice, format }: SpeechSettings,
  text: string,
  { network, signal }: { readonly network: AgentNetwork; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const reply = await network.fetch(`${url.replace(/\/+$/, '')}/audio/speech`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, voice, input: text, response_format: format }),
    signal,
  });
  if (!reply.ok) throw new Error(`speech synthesis responded with ${statusOf(reply)}`);
  const chunks = chunksWithin(reply, MAX_REPLY_BYTES);
  if (format === 'wav') yield* wavPieces(chunks);
  else yield* wholeSamples(chunks);
}

async function* wholeSamples(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const even = bytes.length & ~1;
    rest = bytes.subarray(even);
    if (even > 0) yield bytes.subarray(0, even);
  }
}

async function* wavPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const sound = readWav(Buffer.concat(parts));
  if (!sound.ok) throw new Error(`speech synthesis returned no usable audio: ${sound.error}`);
  const bytes = l16Bytes(convertRate(sound.value, SPEECH_RATE_HZ));
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
