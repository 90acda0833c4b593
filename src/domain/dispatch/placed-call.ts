/** One call placed through the REST API, from its INVITE to its document (spec: POST …/Call/). */
import { ServiceError } from '../../base/errors.ts';
import { type Call, endAt, type FindSlot } from '../call/call.ts';
import { machineDetectionParameters, ringParameters } from '../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import { Interpreter, signerOf } from '../interpreter/interpreter.ts';
import { signing } from './caller-proof.ts';
import type { MachineDetectionRequest, PlaceCallsRequest } from './control.ts';
import { customHeaders } from './custom-headers.ts';
import type { Destined } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';

/** Gap between two sent digits, in ms (dialect §6). */
const DIGIT_GAP_MS = 80;

export class PlacedCall {
  readonly #call: Call;
  readonly #request: PlaceCallsRequest;
  readonly #needs: DispatchNeeds;
  #digitsAreDue: boolean;

  constructor(call: Call, request: PlaceCallsRequest, needs: DispatchNeeds) {
    this.#call = call;
    this.#request = request;
    this.#needs = needs;
    this.#digitsAreDue = request.sendDigits !== undefined;
  }

  /** Dials, and runs the answer document after the answer. Resolves when both are complete; never rejects. */
  async run(destined: Destined, findSlot: FindSlot): Promise<void> {
    const call = this.#call;
    try {
      const answered = this.#untilAnswered();
      await call.dial(this.#needs.signalling, {
        targets: destined.targets,
        from: { user: call.facts.from, displayName: call.facts.callerName },
        headers: customHeaders(this.#request.sipHeaders),
        findSlot,
        ...signing(this.#needs, call),
      });
      if (!(await answered)) return;
      await this.#needs.callBilling.changed(call);
      if (!call.isEnded) await this.#converse();
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * Resolves to true at the answer, or to false if the call ends first. Handles ringing: callback, timeouts and early
   * digits.
   */
  #untilAnswered(): Promise<boolean> {
    const { hangupOnRingMs, sendOnPreanswer, timeLimitMs } = this.#request;
    const call = this.#call;
    const ringTimeoutMs = this.#request.ringTimeoutMs ?? this.#needs.settings.ringTimeoutMs;
    const cancels = [
      this.#after(ringTimeoutMs, () => call.hangup('ringTimeout', 'Platform', 'ring_timeout')),
    ];
    return new Promise((resolve) => {
      const forget = call.observe({
        ringing: () => {
          this.#notify('Ring', this.#request.ring, ringParameters(call.facts));
          if (hangupOnRingMs === undefined) return;
          const giveUp = (): void => call.hangup('ringTimeout', 'Platform', 'hangup_on_ring');
          cancels.push(this.#after(hangupOnRingMs, giveUp));
        },
        earlyMedia: () => {
          if (sendOnPreanswer) this.#sendDigits();
        },
        answered: () => {
          for (const cancel of cancels) cancel();
          endAt(call, this.#needs.clock, {
            atMs: call.msAt(call.answerUs ?? call.nowUs()) + timeLimitMs,
            cause: 'scheduled',
            source: 'Platform',
            detail: 'time_limit',
          });
          resolve(true);
        },
      });
      void call.ended.then(() => {
        forget();
        resolve(false);
      });
    });
  }

  async #converse(): Promise<void> {
    const { machineDetection: detection, answer, fallback } = this.#request;
    this.#sendDigits();
    if (detection !== undefined) {
      const result = this.#detect(detection);
      // Without a callback, the document request contains the result and waits for it.
      if (detection.callback === undefined) await result;
      else result.catch((error: unknown) => this.#failed(error));
    }
    if (this.#call.isEnded) return;
    const { interpreter, scripts } = this.#needs;
    const script = new Interpreter(this.#call, { answer, fallback }, interpreter());
    scripts.add(this.#call, script);
    await script.run();
  }

  async #detect(detection: MachineDetectionRequest): Promise<void> {
    const call = this.#call;
    const { machine, reason, afterMs } = await call.media.detectMachine({
      totalMs: detection.totalMs,
      initialSilenceMs: detection.initialSilenceMs,
      greetingMs: detection.initialGreetingMs,
      maximumWords: detection.maximumWords,
      maximumWordMs: detection.maximumSpeechMs,
      adaptive: detection.adaptive ?? false,
    });
    if (call.isEnded || reason === 'ended') return;
    call.answeredBy(machine);
    call.log.add('media', machine ? 'machine detected' : 'human detected', { reason, afterMs });
    const parameters = machineDetectionParameters(call.facts, machine);
    this.#notify('MachineDetection', detection.callback, parameters);
    if (machine && detection.mode === 'hangup') call.hangup('machineDetected', 'Platform', reason);
  }

  /** Sends the digits once: at early media if requested, otherwise after the answer. */
  #sendDigits(): void {
    const { sendDigits } = this.#request;
    if (!this.#digitsAreDue || sendDigits === undefined) return;
    this.#digitsAreDue = false;
    const { digits, toneMs } = sendDigits;
    this.#call.media
      .sendDigits(digits, { toneMs, gapMs: DIGIT_GAP_MS, inband: false })
      .catch((error: unknown) => {
        this.#call.log.add('warning', 'digits not sent', { error: String(error) });
      });
  }

  #notify(event: string, target: CallbackTarget | undefined, parameters: CallbackParameters): void {
    if (target === undefined) return;
    const accountId = signerOf(this.#call);
    const subject = this.#call.uuid;
    this.#needs.callbacks.notify({ accountId, subject, event, target, parameters });
  }

  /** Starts a timer that the end of the call cancels. */
  #after(ms: number, act: () => void): () => void {
    const { clock } = this.#needs;
    const cancel = clock.at(clock.monotonicMs() + ms, act);
    this.#call.signal.addEventListener('abort', cancel, { once: true });
    return cancel;
  }

  #failed(error: unknown): void {
    const call = this.#call;
    if (call.isEnded) return;
    this.#needs.logger.error({ error, callUuid: call.uuid }, 'outbound call failed');
    call.hangup(
      'internalError',
      'Error',
      error instanceof ServiceError ? error.message : undefined,
    );
  }
}
