/** Sounds that a customer names by one URL: an audio file, or a document with Speak, Play and Wait (dialect §2.1). */
import { type Instruction, parseAnswerXml } from '../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../call/call.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import { parametersOf, signerOf } from './call-callbacks.ts';
import type { InterpreterNeeds } from './needs.ts';
import { type Listener, playTo, speakTo } from './sound.ts';

/** Repeated sounds that are over at once, or cannot be had, are tried no more often than this. */
const SHORTEST_ROUND_MS = 1000;

export interface SoundSource extends CallbackTarget {
  /** `Event` of the request for a document. */
  readonly event: string;
  /** Parameters of its own, behind the standard ones. */
  readonly own: CallbackParameters;
}

export interface SoundUrlOptions {
  /** Whose account signs the request; its log hears of failures. */
  readonly call: Call;
  readonly needs: Pick<InterpreterNeeds, 'callbacks' | 'audio' | 'speech' | 'clock' | 'settings'>;
  readonly signal: AbortSignal;
  /** From the beginning again and again, until aborted. */
  readonly repeat: boolean;
  /** Each time from what the URL answers then: a place in a queue changes. */
  readonly anew?: boolean;
  /** Who hears it; the call when there is nobody else. */
  readonly listener?: Listener;
}

/** Resolves when it was heard, was aborted, or could not be had (then the call's log says why). Never rejects. */
export async function playSoundUrl(source: SoundSource, options: SoundUrlOptions): Promise<void> {
  const { needs, signal, repeat, call } = options;
  const listener = options.listener ?? call;
  try {
    const isFile = namesAudioFile(source.url);
    let steps = isFile ? undefined : await fetchSteps(source, options);
    signal.throwIfAborted();
    if (repeat && steps?.length === 0) return;
    do {
      const startedMs = needs.clock.monotonicMs();
      if (steps === undefined) await playTo(listener, needs, source.url, { signal });
      else await carryOut(steps, listener, options);
      const restMs = SHORTEST_ROUND_MS - (needs.clock.monotonicMs() - startedMs);
      if (repeat && restMs > 0) await needs.clock.sleep(restMs, signal);
      if (options.anew === true && !isFile && !signal.aborted) {
        steps = await fetchSteps(source, options);
      }
    } while (repeat && !signal.aborted);
  } catch (error) {
    if (!signal.aborted) call.log.add('warning', 'sound failed', { detail: String(error) });
  }
}

/** Undefined: what is there is no document but, as it seems, an audio file. */
async function fetchSteps(
  source: SoundSource,
  { call, needs, signal }: SoundUrlOptions,
): Promise<readonly Instruction[] | undefined> {
  const target = { url: source.url, method: source.method };
  const fetched = await needs.callbacks.fetchDocument(
    target,
    parametersOf(call, source.event, source.own),
    {
      kind: 'sound',
      accountId: signerOf(call),
      callUuid: call.uuid,
      signal,
      onAttempt: (attempt) => call.log.add('callback', attempt.event, { ...attempt }),
    },
  );
  if (!fetched.ok) {
    if (fetched.error.kind === 'tooLarge') return undefined;
    call.log.add('warning', 'sound cannot be fetched', { url: source.url, ...fetched.error });
    return [];
  }
  const { body, contentType } = fetched.value;
  if (/^(audio\/|application\/octet-stream)/i.test(contentType)) return undefined;
  const { allowInsecureStreams } = needs.settings;
  const parsed = parseAnswerXml(body, { allowInsecureStreams });
  if (parsed.ok) return parsed.value;
  const { line, column, message } = parsed.error;
  call.log.add('warning', 'sound document refused', { url: source.url, line, column, message });
  return [];
}

async function carryOut(
  steps: readonly Instruction[],
  listener: Listener,
  { call, needs, signal }: SoundUrlOptions,
): Promise<void> {
  for (const step of steps) {
    switch (step.kind) {
      case 'speak':
        await speakTo(listener, needs, step, { signal, loop: step.loop });
        break;
      case 'play':
        await playTo(listener, needs, step.url, { signal, loop: step.loop });
        break;
      case 'wait':
        await needs.clock.sleep(step.lengthMs, signal);
        break;
      default:
        call.log.add('warning', `${step.kind} has no place in a sound`, { line: step.line });
    }
  }
}

const namesAudioFile = (url: string): boolean => /^[^?#]*\.(mp3|wav)([?#]|$)/i.test(url);
