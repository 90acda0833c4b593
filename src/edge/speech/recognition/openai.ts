/** Recognition by Whisper servers and other servers with OpenAI's `POST /v1/audio/transcriptions` (multipart). */

import { ok } from '../../../base/result.ts';
import type { RecognitionRequest } from '../../../domain/call/needs.ts';
import { wavHeader } from '../../../protocol/audio-file/audio-file.ts';
import {
  lengthMs,
  problem,
  RATE,
  type Recognised,
  type RecognitionEngine,
  reasonOf,
} from './engine.ts';
import { isRecord, textWithin } from './reply.ts';
import { Utterance } from './utterance.ts';

export interface OpenAiOptions {
  /** Base URL including the API version, e.g. `http://127.0.0.1:8000/v1`. */
  readonly url: string;
  /** Bearer token; empty for none. */
  readonly apiKey: string;
  readonly model: string;
  readonly timeLimitMs: number;
}

const MAX_REPLY_BYTES = 1024 * 1024;
/** Maximum length of a prompt. Whisper uses only the last 224 tokens. */
const MAX_PROMPT_CHARS = 800;

export const openAiRecogniser = (options: OpenAiOptions): RecognitionEngine => ({
  name: 'http',
  understands: () => true,
  open: (request, interim) =>
    new Utterance((pcm, signal) => transcribe(options, request, pcm, signal), interim),
});

async function transcribe(
  { url, apiKey, model, timeLimitMs }: OpenAiOptions,
  request: RecognitionRequest,
  pcm: Uint8Array,
  signal: AbortSignal,
): Promise<Recognised> {
  const form = new FormData();
  form.set('file', new Blob([wavOf(pcm)], { type: 'audio/wav' }), 'speech.wav');
  form.set('model', model);
  const language = request.language.split('-')[0]?.toLowerCase();
  if (language !== undefined && language !== '') form.set('language', language);
  if (request.hints.length > 0)
    form.set('prompt', request.hints.join(', ').slice(0, MAX_PROMPT_CHARS));
  // Only Whisper returns a confidence.
  form.set('response_format', model.startsWith('gpt-') ? 'json' : 'verbose_json');
  try {
    const reply = await fetch(`${url.replace(/\/+$/, '')}/audio/transcriptions`, {
      method: 'POST',
      body: form,
      redirect: 'error',
      headers: apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]),
    });
    const body = await textWithin(reply, MAX_REPLY_BYTES);
    if (!reply.ok) return problem('failed', `the recognizer responded with status ${reply.status}`);
    return read(body, pcm);
  } catch (error) {
    if (signal.aborted) return problem('aborted', 'no longer wanted');
    return problem('failed', `the recognizer request failed: ${reasonOf(error)}`);
  }
}

function read(body: string, pcm: Uint8Array): Recognised {
  let reply: unknown;
  try {
    reply = JSON.parse(body);
  } catch {
    return problem('failed', 'the recognizer did not return JSON');
  }
  if (!isRecord(reply) || typeof reply['text'] !== 'string') {
    return problem('failed', 'the recognizer returned no text');
  }
  return ok({
    text: reply['text'].trim(),
    confidence: confidenceOf(reply['segments']),
    durationMs: lengthMs(pcm),
  });
}

/** Confidence from the mean log probability of each segment's tokens. */
function confidenceOf(segments: unknown): number | undefined {
  if (!Array.isArray(segments)) return undefined;
  const logs = segments
    .map((segment: unknown) => (isRecord(segment) ? segment['avg_logprob'] : undefined))
    .filter((value) => typeof value === 'number');
  if (logs.length === 0) return undefined;
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  return Math.min(1, Math.exp(mean));
}

/** Wraps PCM in a WAV file with one channel. */
export const wavOf = (pcm: Uint8Array): Uint8Array<ArrayBuffer> =>
  Buffer.concat([wavHeader(RATE, 1, pcm.length), pcm]);
