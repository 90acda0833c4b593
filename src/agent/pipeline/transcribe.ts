/** `POST <url>/audio/transcriptions` of OpenAI and compatible servers. */
import { err, ok, type Result } from '../../base/result.ts';
import { l16Samples, writeWav } from '../../phone/audio/wav.ts';
import type { RecognizerSettings } from '../agent-file.ts';
import { type AgentNetwork, FormData } from '../network.ts';
import { statusOf, textWithin } from './bounded.ts';

const RATE_HZ = 16_000;
const LIMIT_MS = 15_000;
const MAX_REPLY_BYTES = 256 * 1024;

/** Returns the words of an utterance, or an error that can be shown. */
export async function transcribe(
  { url = '', apiKey, model = 'whisper-1', language }: RecognizerSettings,
  pcm: Buffer,
  { network, signal }: { readonly network: AgentNetwork; readonly signal: AbortSignal },
): Promise<Result<string, string>> {
  const form = new FormData();
  const wav = writeWav({ rate: RATE_HZ, samples: l16Samples(pcm) });
  form.set('file', new Blob([new Uint8Array(wav)], { type: 'audio/wav' }), 'speech.wav');
  form.set('model', model);
  form.set('language', language);
  form.set('response_format', 'json');
  try {
    const reply = await network.fetch(`${url.replace(/\/+$/, '')}/audio/transcriptions`, {
      method: 'POST',
      body: form,
      headers: { ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
    });
    const body = await textWithin(reply, MAX_REPLY_BYTES);
    if (!reply.ok) return err(`the recognizer responded with ${statusOf(reply)}`);
    const { text } = JSON.parse(body) as { readonly text?: unknown };
    return typeof text === 'string' ? ok(text.trim()) : err('the recognizer returned no text');
  } catch (error) {
    return err(`the recognizer request failed: ${error instanceof Error ? error.message : error}`);
  }
}
