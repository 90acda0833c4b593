import { unlessAborted } from '../../../base/abort.ts';
import { parseAnswerXml, type RecordInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { CallbackTarget } from '../../callback/types.ts';
import { isRequested, logAttempt, notify, parametersOf, signerOf } from '../call-callbacks.ts';
import type { VerbContext } from '../needs.ts';
import { concludeAction, NEXT, tellInterrupted, type VerbOutcome } from '../outcome.ts';
import type { CallRecordRequest, LiveRecording } from '../recorder.ts';
import { toneTo } from '../sound.ts';
import { BEEP } from '../tones.ts';
import { hangup } from './hangup.ts';
import { within } from './within.ts';

/** Maximum time that the document waits for the response of `action`, in ms. A later response is still obeyed. */
const ACTION_WAIT_MS = 10_000;
/**
 * Maximum time that the caller waits in silence for the file, in ms, so that the `action` of `redirect="true"` can
 * fetch it.
 */
const FILE_WAIT_MS = 2000;

interface Action {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly redirect: boolean;
}

/**
 * `Record` (spec: Answer-XML instructions; dialect §2.1). `recordSession` and `startOnDialAnswer` record in the
 * background. Otherwise the document waits and only the caller is recorded, until silence, a key or the maximum length.
 *
 * `action`, where the dialect has two variants: without `redirect` (default), it is requested when the recording
 * begins, and only a `Hangup` in its response counts. With `redirect="true"`, its document replaces the rest: after a
 * foreground recording has ended, or when a background recording has begun.
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

/** Starts a recording in the background; the `Dial` does not wait for it. */
async function startLater(instruction: RecordInstruction, armedBy: VerbContext): Promise<void> {
  const { call, needs } = armedBy;
  // The recording belongs to the call: a transfer does not end it.
  const context = { ...armedBy, signal: call.signal };
  try {
    // The document is in its `Dial`, so the response of `action` cannot replace the rest.
    const outcome = await recordSession({ ...instruction, redirect: false }, context);
    if (outcome.kind === 'hangup') call.hangup(outcome.cause, outcome.source);
  } catch (error) {
    if (call.isEnded) return;
    needs.logger.error({ error, callUuid: call.uuid }, 'recording failed to start');
  }
}

/** Records both parties until the call ends, across transfers. */
async function recordSession(
  instruction: RecordInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  const { call, signal } = context;
  const live = await begin(instruction, context, {});
  if (live === undefined) return NEXT;
  if (instruction.playBeep) {
    // The beep is mixed over the next element and interrupted with it.
    void toneTo(call, BEEP, { signal, mix: true }).catch(() => undefined);
  }
  const action = actionOf(instruction);
  if (action === undefined) return NEXT;
  if (action.redirect) return concludeAction(context, action, 'Record', live.parameters());
  return soon(context, askAction(context, action, live));
}

/** Records the caller's message while the document waits. */
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
  const requested = action?.redirect === false ? askAction(context, action, live) : undefined;
  // A Hangup in the response ends the recording immediately.
  const obeyed = requested?.then((outcome) => {
    if (outcome.kind === 'hangup') live.stop('HungUp');
    return outcome;
  });
  try {
    await unlessAborted(signal, live.ended);
  } catch (error) {
    live.stop(call.isEnded ? 'HungUp' : 'Interrupted');
    if (action?.redirect === true) tellMessage(context, action, live);
    throw error;
  } finally {
    releaseKeys();
  }
  if (obeyed !== undefined) return soon(context, obeyed);
  if (action === undefined) return NEXT;
  try {
    await within(FILE_WAIT_MS, context, live.finalized);
  } catch (error) {
    tellMessage(context, action, live);
    throw error;
  }
  return concludeAction(context, action, 'Record', live.parameters());
}

/** Notifies `action` of a message if its document can no longer follow, usually after a hangup. */
function tellMessage(context: VerbContext, action: Action, live: LiveRecording): void {
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
    ringback: instruction.recordRingback,
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

/** Requests `action` with the recording's parameters and looks for a `Hangup` in the response. Never rejects. */
async function askAction(
  context: VerbContext,
  { url, method }: Action,
  live: LiveRecording,
): Promise<VerbOutcome> {
  const { call, needs, signal } = context;
  let isSent = false;
  try {
    const fetched = await needs.callbacks.fetchDocument(
      { url, method },
      parametersOf(call, 'Record', live.parameters()),
      {
        kind: 'action',
        accountId: signerOf(call),
        callUuid: call.uuid,
        // Uses the signal of the call: the application is notified even if a transfer replaces the document.
        signal: call.signal,
        onAttempt: (attempt) => {
          isSent ||= isRequested(attempt, call.isEnded);
          logAttempt(call, attempt);
        },
      },
    );
    if (fetched.ok) return hangupIn(fetched.value.body, context);
    // Fatal only if its document is needed (dialect §3.12).
    call.log.add('warning', 'request to the action of Record failed', { url, ...fetched.error });
  } catch (error) {
    if (!call.isEnded && !signal.aborted) {
      needs.logger.error({ error, callUuid: call.uuid }, 'action of Record failed');
    }
    if (call.isEnded && !isSent) await unsent(context, { url, method }, live);
  }
  return NEXT;
}

/** Notifies `action` if the call ended before it was requested. Never rejects. */
async function unsent(
  context: VerbContext,
  action: CallbackTarget,
  live: LiveRecording,
): Promise<void> {
  const { call, needs } = context;
  try {
    await tellInterrupted(context, action, 'Record', live.parameters());
  } catch (error) {
    needs.logger.error({ error, callUuid: call.uuid }, 'action of Record not notified');
  }
}

/** Returns the first Hangup of a response. Anything else, including an invalid document, is an acknowledgement. */
function hangupIn(body: string, context: VerbContext): VerbOutcome {
  // The document was replaced or the call ended: ignore the response.
  if (context.signal.aborted) return NEXT;
  const { allowInsecureStreams } = context.needs.settings;
  const parsed = parseAnswerXml(body, { allowInsecureStreams });
  if (!parsed.ok) return NEXT;
  for (const instruction of parsed.value) {
    if (instruction.kind === 'hangup') return hangup(instruction, context);
  }
  if (parsed.value.length > 0) {
    const text =
      'without redirect="true", only Hangup in the response of the action of Record has an effect';
    context.call.log.add('warning', text);
  }
  return NEXT;
}

/**
 * Returns the result of `action` if it arrives in time. Otherwise the document continues, and a later `Hangup` still
 * takes effect.
 */
async function soon(context: VerbContext, requested: Promise<VerbOutcome>): Promise<VerbOutcome> {
  const outcome = await within(ACTION_WAIT_MS, context, requested);
  if (outcome !== undefined) return outcome;
  const { call } = context;
  call.log.add('warning', 'the document continues without a response from the action of Record');
  void requested.then((late) => {
    if (late.kind === 'hangup') call.hangup(late.cause, late.source);
  });
  return NEXT;
}

/** `transcriptionType` auto and hybrid are equivalent: there is no human transcription. */
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
