/**
 * Transfers of a caller from a bot to a colleague, requested over the stream, over REST or by a `Transfer` element. The
 * colleague is called while the bot and the caller stay connected; then the two parties are connected.
 */

import { unlessAborted } from '../../base/abort.ts';
import { noOperation } from '../../base/no-operation.ts';
import { dialledNumber } from '../../base/phone-number.ts';
import { isSipUri } from '../../base/sip-uri.ts';
import type { DialDestination, DialInstruction } from '../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../call/call.ts';
import type { StreamTransfer, TransferProgress } from '../call/needs.ts';
import type { HangupCauseKey } from '../call/types.ts';
import type { CallbackParameters } from '../callback/types.ts';
import { openAudioStream } from './audio-stream.ts';
import { numberDestination, userDestination } from './dial/destination.ts';
import { keepLiveDial } from './dial/dial-of.ts';
import { type DialResult, endOf } from './dial/dial-result.ts';
import { dialEnded, turnToDial } from './dial/pace.ts';
import { DialSession } from './dial/session.ts';
import { disclose, disclosureOf } from './disclosure.ts';
import type { VerbContext } from './needs.ts';
import type { AudioStreamRequest, LiveAudioStream } from './stream.ts';

/** Maximum duration of the conversation, in ms: the default of `Dial`. */
const TIME_LIMIT_MS = 14_400_000;
/** Time for the colleague to accept, after the introduction, in ms. */
const ACCEPT_MS = 20_000;
const ACCEPT_KEY = '1';
const HOW_TO_ACCEPT = 'Press 1 to accept the call, or any other key to decline.';
/** Ends of the called leg by which the colleague declines. */
const DECLINING: readonly HangupCauseKey[] = ['confirmKeyFailed', 'declined', 'rejected'];
const DEFAULT_INTRODUCTION = 'A caller wants to speak to you.';

type Report = (progress: TransferProgress) => void;

const live = new WeakMap<Call, HandOver>();

/** Transfers of the element that the call executes; undefined if this element cannot transfer. */
export const handOverOf = (call: Call): HandOver | undefined => live.get(call);

export class HandOver {
  readonly #streams: () => readonly LiveAudioStream[];
  readonly #context: VerbContext;
  #running: Promise<void> | undefined;
  #cancel = new AbortController();
  #report: Report = noOperation;
  #failed: TransferProgress | undefined;
  #isConnected = false;

  /** `streams` returns the streams of the bots that talk to the caller. */
  constructor(streams: () => readonly LiveAudioStream[], context: VerbContext) {
    this.#streams = streams;
    this.#context = context;
    live.set(context.call, this);
  }

  /** Failed transfer after which the stream is to open again. */
  get failed(): TransferProgress | undefined {
    return this.#failed;
  }

  /**
   * Starts a transfer and reports its progress to `report` and to bots that may transfer. Returns the reason if it
   * cannot start. Never throws.
   */
  begin(transfer: StreamTransfer, report: Report = noOperation): string | undefined {
    if (this.#running !== undefined) return 'another transfer is in progress';
    const destination = destinationOf(transfer.to);
    if (destination === undefined) return 'the destination is not a number or SIP URI';
    this.#report = report;
    this.#failed = undefined;
    this.#isConnected = false;
    this.#cancel = new AbortController();
    const running = this.#run(transfer, destination)
      .catch((error: unknown) => {
        if (this.#context.signal.aborted) this.#leftByCaller();
        throw error;
      })
      .finally(() => {
        this.#running = undefined;
      });
    this.#running = running;
    // The element that waits for `settled` handles a rejection.
    running.catch(noOperation);
    return undefined;
  }

  /** As `begin`, for a bot, which learns the reason of a refusal from its stream. */
  beginForBot(transfer: StreamTransfer): void {
    const refusal = this.begin(transfer);
    if (refusal !== undefined) this.#tell({ status: 'failed', detail: refusal });
  }

  /** Hangs up the colleague: the caller is with the bot again. Returns false if no transfer is in progress. */
  cancel(): boolean {
    if (this.#running === undefined) return false;
    this.#cancel.abort();
    return true;
  }

  /** Resolves when no transfer is in progress. Rejects if the call ended during it. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Resolves when the legs of an interrupted transfer have ended. The element can no longer transfer. */
  async over(): Promise<void> {
    const { call } = this.#context;
    if (live.get(call) === this) live.delete(call);
    await this.#running?.catch(noOperation);
  }

  async #run(transfer: StreamTransfer, destination: DialDestination): Promise<void> {
    const { signal } = this.#context;
    const { signal: canceled } = this.#cancel;
    const within = { ...this.#context, signal: AbortSignal.any([signal, canceled]) };
    try {
      await this.#dial(transfer, destination, within);
    } catch (error) {
      if (signal.aborted || !canceled.aborted) throw error;
      this.#end(transfer, { status: 'canceled', detail: 'the transfer was canceled' });
    }
  }

  async #dial(
    transfer: StreamTransfer,
    destination: DialDestination,
    context: VerbContext,
  ): Promise<void> {
    if (transfer.mode === 'blind') await this.#lastWords(context.signal);
    const isRepeated = await turnToDial(context);
    const session = new DialSession(instructionFor(transfer, destination), context, {
      isRepeated,
      holdMusic: transfer.mode !== 'blind' && transfer.music === undefined,
      introduction: introductionOf(transfer),
      connected: (colleague) => this.#connected(transfer, colleague),
    });
    const forget = keepLiveDial(context.call, session);
    this.#tell({ status: 'ringing', detail: '' });
    try {
      const result = await session.run();
      dialEnded(context.call, result.status === 'completed');
      this.#conclude(transfer, result);
    } catch (error) {
      await session.abandon();
      throw error;
    } finally {
      forget();
    }
  }

  /** The caller hears the queued audio of the bots before a blind transfer. */
  async #lastWords(signal: AbortSignal): Promise<void> {
    const streams = this.#streams();
    for (const stream of streams) stream.stop('transferred', { drain: true });
    const ended = Promise.all(streams.map((stream) => stream.ended));
    await unlessAborted(signal, ended);
  }

  /** Called again for the next colleague, if the colleague transfers the caller. */
  #connected({ stream }: StreamTransfer, colleague: Call): void {
    if (!this.#isConnected) this.#tell({ status: 'answered', detail: '' });
    this.#isConnected = true;
    for (const open of this.#streams()) {
      if (stream === 'colleague') {
        // The document of the caller carries out transfers, so that the colleague's stream cannot request one.
        const request = { ...open.request, transfers: false };
        void this.#openFor(colleague, request);
      }
      if (stream !== 'caller') open.stop('transferred');
    }
  }

  /** Opens a stream for the colleague, who first hears the disclosure that the caller has heard. */
  async #openFor(colleague: Call, request: AudioStreamRequest): Promise<void> {
    const { call: caller, needs } = this.#context;
    const text = disclosureOf(caller);
    const context = { call: colleague, needs, signal: colleague.signal };
    try {
      if (text !== undefined) await disclose(text, context, { mix: true });
    } catch {
      return; // The colleague has hung up.
    }
    openAudioStream(colleague, request, needs);
  }

  #conclude(transfer: StreamTransfer, result: DialResult): void {
    if (result.status === 'completed') {
      this.#tell({ status: 'completed', detail: '' });
      return;
    }
    this.#end(transfer, failureOf(result));
  }

  /** The call ended, or another document replaced this one. The streams of bots have ended. */
  #leftByCaller(): void {
    const detail = this.#context.call.isEnded ? 'the call ended' : 'the document was replaced';
    this.#note({ status: this.#isConnected ? 'completed' : 'canceled', detail });
  }

  #end({ mode, onFailure }: StreamTransfer, progress: TransferProgress): void {
    if (mode === 'blind' && onFailure === 'stream') this.#failed = progress;
    this.#tell(progress);
  }

  #tell(progress: TransferProgress): void {
    for (const stream of this.#streams()) stream.transferProgress(progress);
    this.#note(progress);
  }

  #note(progress: TransferProgress): void {
    const { status, detail } = progress;
    this.#context.call.log.add('stream', `transfer ${status}`, { detail });
    this.#report(progress);
  }
}

function failureOf(result: DialResult): TransferProgress {
  const { cause, detail } = endOf(result);
  if (DECLINING.includes(cause)) return { status: 'declined', detail: 'the colleague declined' };
  if (cause === 'normal' && result.leg?.call.answerUs !== undefined)
    return { status: 'declined', detail: 'the colleague hung up before the connection' };
  const { status } = result;
  return { status: 'failed', detail: status === 'failed' ? (detail ?? status) : status };
}

/** Parameters of callbacks about a transfer. */
export const transferParameters = (
  { mode, to }: Pick<StreamTransfer, 'mode' | 'to'>,
  { status, detail }: TransferProgress,
): CallbackParameters => [
  ['TransferStatus', status],
  ['TransferReason', detail],
  ['TransferMode', mode],
  ['TransferTo', to],
];

function introductionOf({ mode, introduction }: StreamTransfer): string | undefined {
  if (mode !== 'warm') return undefined;
  return `${introduction ?? DEFAULT_INTRODUCTION} ${HOW_TO_ACCEPT}`;
}

function destinationOf(to: string): DialDestination | undefined {
  if (isSipUri(to)) return userDestination(to, 0);
  const number = dialledNumber(to);
  return number === undefined ? undefined : numberDestination(number, 0);
}

const instructionFor = (
  { mode, callerId, music, timeoutMs }: StreamTransfer,
  destination: DialDestination,
): DialInstruction => ({
  kind: 'dial',
  line: 0,
  warnings: [],
  action: undefined,
  method: 'POST',
  redirect: false,
  callbackUrl: undefined,
  callbackMethod: 'POST',
  callerId,
  callerName: undefined,
  timeoutMs,
  timeLimitMs: TIME_LIMIT_MS,
  hangupOnStar: false,
  dialMusic: music === undefined ? { kind: 'ringback' } : { kind: 'url', url: music },
  confirmSound: undefined,
  confirmKey: mode === 'warm' ? ACCEPT_KEY : undefined,
  confirmTimeoutMs: ACCEPT_MS,
  digitsMatch: [],
  digitsMatchBLeg: [],
  destinations: [destination],
});
