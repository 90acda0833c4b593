import { unlessAborted } from '../../../base/abort.ts';
import { parseAnswerXml, type RecordInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { notify, parametersOf, signerOf } from '../call-callbacks.ts';
import type { VerbContext } from '../needs.ts';
import { concludeAction, NEXT, type VerbOutcome } from '../outcome.ts';
import type { CallRecordRequest, LiveRecording } from '../recorder.ts';
import { toneTo } from '../sound.ts';
import { BEEP } from '../tones.ts';
import { hangup } from './hangup.ts';

/** How long the document waits for what `action` says about going on. An answer that comes later is still obeyed. */
const ACTION_WAIT_MS = 10_000;
/** How long the caller waits in silence for the file, so that the `action` of `redirect="true"` can fetch it at once. */
const FILE_WAIT_MS = 2000;

interface Action {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly redirect: boolean;
}

/**
 * `Record` (spec: Answer-XML instructions; dialect §2.1). With `recordSession` and `startOnDialAnswer` in the background,
 * otherwise the caller alone until a silence, a key or the greatest length, and the document waits.
 *
 * `action`, where the two columns of the dialect differ: without `redirect` (the default) it is asked when the recording
 * begins, and of its answer only a `Hangup` counts. With `redirect="true"` its document replaces the rest: for a recording
 * that the document waits for when it has ended, for one in the background when it has begun.
 */
export async function record(
  instruction: RecordInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  const { call, needs } = context;
  if (instruction.startOnDialAnswer) {
    needs.recorder.whenDialAnswered(call, () => void startLater(instruction, context));
    return NEXT;
  }
  await context.ready();
  return instruction.recordSession
    ? recordSession(instruction, context)
    : recordMessage(instruction, context);
}

/** In the background: the `Dial` does not wait for the recording to start. */
async function startLater(instruction: RecordInstruction, armedBy: VerbContext): Promise<void> {
  const { call, needs } = armedBy;
  // The recording belongs to the call: a transfer to another document does not end it.
  const context = { ...armedBy, signal: call.signal };
  try {
    // The document is in its `Dial`, so the answer of `action` cannot replace its rest.
    const outcome = await recordSession({ ...instruction, redirect: false }, context);
    if (outcome.kind === 'hangup') call.hangup(outcome.cause, outcome.source);
  } catch (error) {
    if (call.isEnded) return;
    needs.logger.error({ error, callUuid: call.uuid }, 'recording failed to start');
  }
}

/** Both parties, until the call ends; transfers do not end it. */
async function recordSession(
  instruction: RecordInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  const { call, signal } = context;
  const live = await begin(instruction, context, {});
  if (live === undefined) return NEXT;
  if (instruction.playBeep) {
    // Heard over whatever comes next; interrupted with it.
    void toneTo(call, BEEP, { signal, mix: true }).catch(() => undefined);
  }
  const action = actionOf(instruction);
  if (action === undefined) return NEXT;
  if (action.redirect) return concludeAction(context, action, 'Record', live.parameters());
  return soon(context, askAction(context, action, live));
}

/** The caller's message: the document waits for its end. */
async function recordMessage(
  instruction: RecordInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  const { call, signal } = context;
  if (instruction.playBeep) await toneTo(call, BEEP, { signal });
  const live = await begin(instruction, context, {
    sides: 'peer',
    silenceEndMs: instruction.silenceTimeoutMs,
  });
  if (live === undefined) return NEXT;
  const releaseKeys = call.digits.take((key) => {
    if (instruction.finishOnKey.includes(key)) live.stop('FinishedOnKey', key);
  });
  const action = actionOf(instruction);
  const asked = action?.redirect === false ? askAction(context, action, live) : undefined;
  // A Hangup that comes as the answer does not wait for the caller to finish.
  const obeyed = asked?.then((outcome) => {
    if (outcome.kind === 'hangup') live.stop('HungUp');
    return outcome;
  });
  try {
    await unlessAborted(signal, live.ended);
  } catch (error) {
    live.stop(call.isEnded ? 'HungUp' : 'Interrupted');
    if (action?.redirect === true) tellInterrupted(context, action, live);
    throw error;
  } finally {
    releaseKeys();
  }
  if (obeyed !== undefined) return soon(context, obeyed);
  if (action === undefined) return NEXT;
  await within(FILE_WAIT_MS, context, live.finalized);
  return concludeAction(context, action, 'Record', live.parameters());
}

/** Tells `action` of a message that was interrupted, as a rule by hanging up; its answer is not used as a document. */
function tellInterrupted(context: VerbContext, action: Action, live: LiveRecording): void {
  const { url, method } = action;
  void live.finalized.then((isFinalized) => {
    if (!isFinalized) return;
    const parameters = parametersOf(context.call, 'Record', live.parameters());
    notify(context, 'Record', { url, method }, parameters);
  });
}

async function begin(
  instruction: RecordInstruction,
  { call, needs }: VerbContext,
  own: Pick<CallRecordRequest, 'sides' | 'silenceEndMs'>,
): Promise<LiveRecording | undefined> {
  const { callbackUrl: url, callbackMethod: method } = instruction;
  const started = await needs.recorder.start(call, {
    format: instruction.fileFormat,
    channels: instruction.channels,
    maxMs: instruction.maxLengthMs,
    callback: url === undefined ? undefined : { url, method },
    transcription: transcriptionOf(instruction),
    ...own,
  });
  if (!started.ok) {
    const { kind, ...facts } = started.error;
    call.log.add('warning', 'not recorded', { reason: kind, ...facts, line: instruction.line });
    return undefined;
  }
  return started.value;
}

/** Tells `action` of the recording, and looks for a `Hangup` in its answer. Never rejects. */
async function askAction(
  context: VerbContext,
  { url, method }: Action,
  live: LiveRecording,
): Promise<VerbOutcome> {
  const { call, needs, signal } = context;
  try {
    const fetched = await needs.callbacks.fetchDocument(
      { url, method },
      parametersOf(call, 'Record', live.parameters()),
      {
        kind: 'action',
        accountId: signerOf(call),
        callUuid: call.uuid,
        // The signal of the call: the customer is told even if a transfer replaces the document.
        signal: call.signal,
        onAttempt: (attempt) => call.log.add('callback', attempt.event, { ...attempt }),
      },
    );
    if (fetched.ok) return hangupIn(fetched.value.body, context);
    // Fatal only where its document is needed (dialect §3.12).
    call.log.add('warning', 'action of Record not reached', { url, ...fetched.error });
  } catch (error) {
    if (!call.isEnded && !signal.aborted) {
      needs.logger.error({ error, callUuid: call.uuid }, 'action of Record failed');
    }
  }
  return NEXT;
}

/** Anything but a document is an acknowledgement, and so is a document without `Hangup`. */
function hangupIn(body: string, context: VerbContext): VerbOutcome {
  // The document has been replaced, or the call has ended: the answer comes too late.
  if (context.signal.aborted) return NEXT;
  const { allowInsecureStreams } = context.needs.settings;
  const parsed = parseAnswerXml(body, { allowInsecureStreams });
  if (!parsed.ok) return NEXT;
  for (const instruction of parsed.value) {
    if (instruction.kind === 'hangup') return hangup(instruction, context);
  }
  if (parsed.value.length > 0) {
    const text = 'of what the action of Record answers only Hangup counts without redirect="true"';
    context.call.log.add('warning', text);
  }
  return NEXT;
}

/** What `action` said, if it says it soon; else the document goes on, and a `Hangup` counts when it comes. */
async function soon(context: VerbContext, asked: Promise<VerbOutcome>): Promise<VerbOutcome> {
  const outcome = await within(ACTION_WAIT_MS, context, asked);
  if (outcome !== undefined) return outcome;
  const { call } = context;
  call.log.add('warning', 'the document goes on without the answer of the action of Record');
  void asked.then((late) => {
    if (late.kind === 'hangup') call.hangup(late.cause, late.source);
  });
  return NEXT;
}

/** What `work` comes to, or undefined after `ms`. Rejects with the signal's reason. */
async function within<T>(
  ms: number,
  { needs, signal }: VerbContext,
  work: Promise<T>,
): Promise<T | undefined> {
  const over = new AbortController();
  const patience = needs.clock.sleep(ms, AbortSignal.any([signal, over.signal]));
  try {
    return await unlessAborted(signal, Promise.race([work, patience.then(() => undefined)]));
  } finally {
    over.abort();
  }
}

/** `transcriptionType` auto and hybrid come to the same here: nobody listens to recordings. */
function transcriptionOf(instruction: RecordInstruction): CallRecordRequest['transcription'] {
  const {
    transcriptionType: type,
    transcriptionUrl: url,
    transcriptionMethod: method,
  } = instruction;
  if (type === undefined && url === undefined) return undefined;
  return { callback: url === undefined ? undefined : { url, method } };
}

function actionOf({ action: url, method, redirect }: RecordInstruction): Action | undefined {
  return url === undefined ? undefined : { url, method, redirect };
}
