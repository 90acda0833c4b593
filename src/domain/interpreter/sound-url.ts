/** Sounds given by a customer's URL: an audio file, or a document with Speak, Play and Wait (dialect §2.1). */
import { type Instruction, parseAnswerXml } from '../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../call/call.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import { logAttempt, parametersOf, signerOf } from './call-callbacks.ts';
import type { InterpreterNeeds } from './needs.ts';
import { type Listener, playTo, speakTo } from './sound.ts';

/** Minimum interval between repetitions, in ms, for sounds that are very short or unavailable. */
const SHORTEST_ROUND_MS = 1000;

export interface SoundSource extends CallbackTarget {
  /** `Event` parameter of the document request. */
  readonly event: string;
  /** Parameters after the standard ones. */
  readonly own: CallbackParameters;
}

export interface SoundUrlOptions {
  /** Call whose account signs the request and whose log records failures. */
  readonly call: Call;
  readonly needs: Pick<InterpreterNeeds, 'callbacks' | 'audio' | 'speech' | 'clock' | 'settings'>;
  readonly signal: AbortSignal;
  /** True repeats the sound until aborted. */
  readonly repeat: boolean;
  /** True fetches the document again for each repetition, because its content may change (a queue position). */
  readonly anew?: boolean;
  /** Listener of the sound. Default: the call. */
  readonly listener?: Listener;
}

/** Plays the sound. Resolves when it ends, is aborted, or fails (logged in the call's log). Never rejects. */
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

/** Fetches the document. Returns undefined if the URL delivers an audio file instead. */
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
      onAttempt: (attempt) => logAttempt(call, attempt),
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
        call.log.add('warning', `${step.kind} is not allowed in a sound document`, {
          line: step.line,
        });
    }
  }
}

const namesAudioFile = (url: string): boolean => /^[^?#]*\.(mp3|wav)([?#]|$)/i.test(url);
