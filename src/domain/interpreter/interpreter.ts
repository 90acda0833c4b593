/** Runs the answer XML documents of a call, one instruction at a time. Entry point of the interpreter. */
import { linkedTo } from '../../base/abort.ts';
import { BugError, ServiceError } from '../../base/errors.ts';
import type { Instruction, XmlProblem } from '../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../call/call.ts';
import type { HangupCauseKey } from '../call/types.ts';
import { startAppParameters } from '../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import { isRequested, logAttempt, notify, parametersOf, signerOf } from './call-callbacks.ts';
import type { InterpreterNeeds, VerbContext } from './needs.ts';
import type { DocumentVia, NextDocument, Refusal, VerbOutcome } from './outcome.ts';
import { untilDigitsSent } from './pending-digits.ts';
import { readDocument } from './read-document.ts';
import { execute } from './verb/verb.ts';

export { failedStreamsOf, openAudioStream, streamsOf, undisclosed } from './audio-stream.ts';
export { notify, parametersOf, signerOf } from './call-callbacks.ts';
export { claimOf } from './conference/between-nodes.ts';
export { Conferences, partyKey } from './conference/conferences.ts';
export type { NodeLegs } from './conference/node-legs.ts';
export { SharedConferences } from './conference/shared-conferences.ts';
export { dialOf, type LiveDial } from './dial/dial-of.ts';
export { handOverOf, transferParameters } from './hand-over.ts';
export { playWhileHeld } from './hold.ts';
export type {
  BLegRequest,
  CallKeeping,
  Dialer,
  InterpreterNeeds,
  Recorder,
  ReferOutcome,
  ReferRefusal,
  ReferRequest,
  Referral,
  Referrer,
  UnplacedLeg,
} from './needs.ts';
export { CallRecorder, type RecordingFolder } from './recorder.ts';
export { referParameters } from './refer-parameters.ts';
export { relayDigits } from './relay-digits.ts';
export { playTo, speakTo } from './sound.ts';
export type { LiveAudioStream } from './stream.ts';

const UNREACHABLE: Readonly<Record<DocumentVia, HangupCauseKey>> = {
  answer: 'answerUrlError',
  action: 'actionUrlError',
  transfer: 'transferUrlError',
  redirect: 'redirectUrlError',
};
const INVALID_URL: Readonly<Record<DocumentVia, HangupCauseKey>> = {
  answer: 'answerUrlError',
  action: 'invalidActionUrl',
  transfer: 'invalidTransferUrl',
  redirect: 'invalidRedirectUrl',
};
const INVALID_XML: Readonly<Record<DocumentVia, HangupCauseKey>> = {
  answer: 'invalidAnswerXml',
  action: 'invalidActionXml',
  transfer: 'invalidTransferXml',
  redirect: 'invalidRedirectXml',
};
/** Hangup causes for an unusable `action` or `Redirect` in a document (dialect §3.12). */
const FAULT: Readonly<Record<Exclude<XmlProblem['fault'], 'document'>, HangupCauseKey>> = {
  actionUrl: 'invalidActionUrl',
  actionMethod: 'invalidActionMethod',
  redirectUrl: 'invalidRedirectUrl',
  redirectMethod: 'invalidRedirectMethod',
};
/** Longest document shown in the timeline, in UTF-16 units. Longer documents appear as their elements only. */
const LONGEST_SHOWN = 4096;
const MINUTE_MS = 60_000;

export interface Script {
  readonly answer: CallbackTarget;
  readonly fallback: CallbackTarget | undefined;
}

/** Abort reason when a transfer replaces the document. */
class Transferred extends Error {}

/** Interpreter of one call's documents. */
export class Interpreter {
  readonly #call: Call;
  readonly #needs: InterpreterNeeds;
  readonly #script: Script;
  readonly #fetchedMs: number[] = [];
  #transfer: NextDocument | undefined;
  /** Refusal of the last failed `Dial`, for a caller that is not answered. */
  #refusal: Refusal | undefined;
  #document: AbortController | undefined;
  /** Document of an `action` whose request has not been sent yet, or is to be repeated after a failure. */
  #unsent: NextDocument | undefined;

  constructor(call: Call, script: Script, needs: InterpreterNeeds) {
    this.#call = call;
    this.#script = script;
    this.#needs = needs;
  }

  /** Runs documents until the call ends or the last document is complete. Never rejects. */
  async run(): Promise<void> {
    this.#call.digits.documentRuns();
    // A leg that was transferred before its start already has its first document.
    let next: NextDocument | undefined = this.#transfer ?? this.#answerDocument();
    this.#transfer = undefined;
    while (next !== undefined && !this.#call.isEnded) {
      const { controller, release } = linkedTo(this.#call.signal);
      this.#document = controller;
      try {
        next = await this.#runDocument(next, controller.signal);
      } catch (error) {
        next = this.#afterInterruption(error);
      } finally {
        release();
      }
      if (this.#isLost(next)) await this.#tellUnsent();
      // A transfer may arrive between two documents.
      if (this.#transfer !== undefined) {
        next = this.#transfer;
        this.#transfer = undefined;
      }
    }
  }

  /** Returns whether an `action` that was not requested yet will not be: the call ended or was transferred. */
  #isLost(next: NextDocument | undefined): boolean {
    if (this.#unsent === undefined) return false;
    return next !== this.#unsent || this.#transfer !== undefined || this.#call.isEnded;
  }

  /** Notifies the `action`, whose response is then ignored. Never rejects. */
  async #tellUnsent(): Promise<void> {
    const action = this.#unsent;
    this.#unsent = undefined;
    if (action === undefined) return;
    const call = this.#call;
    const { keeping, logger } = this.#needs;
    try {
      // The hangup notification precedes those of operations that the call started (dialect §2.1, order of callbacks).
      if (call.isEnded) await keeping.settled(call);
    } catch (error) {
      logger.error({ error, callUuid: call.uuid }, 'action notified before the hangup');
    }
    const parameters = parametersNow(action, call);
    const event = parameters.find(([name]) => name === 'Event')?.[1] ?? action.via;
    notify({ call, needs: this.#needs }, event, action.target, parameters);
  }

  /** Aborts the current element and continues with the document of `target` (dialect §2.2). */
  transfer(target: CallbackTarget): void {
    this.#transfer = {
      via: 'transfer',
      target,
      fallback: undefined,
      parameters: parametersOf(this.#call, 'Redirect'),
    };
    this.#call.log.add('call', 'transfer', { url: target.url });
    this.#document?.abort(new Transferred('transferred'));
  }

  #answerDocument(): NextDocument {
    return {
      via: 'answer',
      target: this.#script.answer,
      fallback: this.#script.fallback,
      parameters: startAppParameters(this.#call.facts, this.#call.answerUs !== undefined),
    };
  }

  async #runDocument(
    document: NextDocument,
    signal: AbortSignal,
  ): Promise<NextDocument | undefined> {
    const instructions = await this.#fetch(document, signal);
    if (instructions === undefined) return undefined;
    const context: VerbContext = {
      call: this.#call,
      needs: this.#needs,
      signal,
      ready: () => this.#ready(signal),
    };
    for (const instruction of instructions) {
      this.#logStep(instruction);
      const outcome = await execute(instruction, context);
      if (outcome.kind === 'document' && outcome.next.via === 'action') this.#unsent = outcome.next;
      signal.throwIfAborted();
      if (outcome.kind === 'hangup') await untilDigitsSent(this.#call, this.#needs.clock, signal);
      const next = this.#follow(outcome, instruction === instructions.at(-1));
      if (next !== 'goOn') return next;
    }
    await untilDigitsSent(this.#call, this.#needs.clock, signal);
    this.#endOfDocument();
    return undefined;
  }

  /**
   * Ends the call after its last document. After a failed Dial, an unanswered caller gets its refusal (decisions: Dial
   * does not answer).
   */
  #endOfDocument(): void {
    const refusal = this.#call.isAnswered ? undefined : this.#refusal;
    if (refusal === undefined) this.#call.hangup('endOfXml', 'Platform');
    else this.#call.hangup(refusal.cause, refusal.source, refusal.detail);
  }

  #follow(outcome: VerbOutcome, isLast: boolean): NextDocument | undefined | 'goOn' {
    if (outcome.kind !== 'hangup') this.#refusal = outcome.refusal ?? this.#refusal;
    switch (outcome.kind) {
      case 'next':
        return 'goOn';
      case 'document':
        return outcome.next;
      case 'refetch':
        return isLast && outcome.refusal !== undefined ? 'goOn' : this.#answerDocument();
      case 'hangup':
        this.#call.hangup(outcome.cause, outcome.source, outcome.detail);
        return undefined;
    }
  }

  async #fetch(
    document: NextDocument,
    signal: AbortSignal,
  ): Promise<readonly Instruction[] | undefined> {
    const { callbacks, clock, settings } = this.#needs;
    const nowMs = clock.monotonicMs();
    while ((this.#fetchedMs[0] ?? nowMs) < nowMs - MINUTE_MS) this.#fetchedMs.shift();
    if (this.#fetchedMs.length >= settings.redirectsPerMinute) {
      this.#unsent = undefined;
      const detail = `more than ${settings.redirectsPerMinute} documents within a minute`;
      this.#call.hangup('loopDetected', 'Error', detail);
      return undefined;
    }
    this.#fetchedMs.push(nowMs);
    const fetched = await callbacks.fetchDocument(document.target, document.parameters, {
      kind: document.via,
      accountId: signerOf(this.#call),
      callUuid: this.#call.uuid,
      ...(document.fallback === undefined ? {} : { fallback: document.fallback }),
      signal,
      onAttempt: (attempt) => {
        if (isRequested(attempt, signal.aborted)) this.#unsent = undefined;
        logAttempt(this.#call, attempt);
      },
    });
    this.#unsent = undefined;
    if (!fetched.ok) {
      const { kind, detail } = fetched.error;
      const causes = kind === 'invalidUrl' ? INVALID_URL : UNREACHABLE;
      this.#call.hangup(causes[document.via], 'Error', detail);
      return undefined;
    }
    return this.#parse(document.via, fetched.value.body);
  }

  #parse(via: DocumentVia, body: string): readonly Instruction[] | undefined {
    const parsed = readDocument(body, this.#needs.settings);
    const shown = body.length <= LONGEST_SHOWN ? { document: body } : undefined;
    if (parsed.ok) {
      if (shown !== undefined) this.#call.log.add('xml', 'document', shown);
      return parsed.value;
    }
    const { fault, line, column, message, expected } = parsed.error;
    this.#call.log.add('xml', 'document refused', { line, column, message, expected, ...shown });
    const cause = fault === 'document' ? INVALID_XML[via] : FAULT[fault];
    const detail = `line ${line}, column ${column}: ${message}; expected ${expected}`;
    this.#call.hangup(cause, 'Error', detail);
    return undefined;
  }

  #logStep(instruction: Instruction): void {
    const { log } = this.#call;
    log.add('xml', instruction.kind, { line: instruction.line });
    for (const warning of instruction.warnings) {
      log.add('warning', warning.message, { line: warning.line, column: warning.column });
    }
  }

  async #ready(signal: AbortSignal): Promise<void> {
    const call = this.#call;
    if (call.isAnswered) return;
    if (call.facts.direction === 'outbound')
      throw new BugError('an outbound script runs after the answer');
    const answered = await call.answer(() => this.#needs.keeping.changed(call));
    // An answer fails only if the call ends, which may be reported later.
    if (!answered) await call.ended;
    signal.throwIfAborted();
  }

  #afterInterruption(error: unknown): NextDocument | undefined {
    if (this.#call.isEnded || error instanceof Transferred) return undefined;
    this.#needs.logger.error({ error, callUuid: this.#call.uuid }, 'verb failed');
    // A ServiceError is a failure of the environment, not of an element.
    if (error instanceof ServiceError) this.#call.hangup('unavailable', 'Error', error.message);
    else this.#call.hangup('internalError', 'Error', 'an element failed');
    return undefined;
  }
}

/** Parameters of a request that was prepared earlier, with the present status of the call. */
const parametersNow = ({ parameters }: NextDocument, call: Call): CallbackParameters =>
  call.isEnded
    ? parameters.map((pair) => (pair[0] === 'CallStatus' ? ['CallStatus', 'completed'] : pair))
    : parameters;
