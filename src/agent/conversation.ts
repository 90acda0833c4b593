/** One call of an agent: joins the audio stream of the service and the model. */
import type { Clock } from '../base/clock.ts';
import { pieces, truncate } from '../base/text.ts';
import type { AgentFile } from './agent-file.ts';
import { Costs, millionths } from './costs.ts';
import { type Json, part, readJson, textOf } from './model/json-socket.ts';
import type { Model, ModelAudio, ModelEvents, Speaker } from './model/model.ts';
import type { AgentNetwork } from './network.ts';
import type { Outcome } from './outcome.ts';
import { Pacing, piecesOf } from './pacing.ts';
import { Playback } from './playback.ts';
import { ToolRunner } from './tool-runner.ts';

export interface ConversationNeeds {
  readonly agent: AgentFile;
  readonly clock: Clock;
  readonly network: AgentNetwork;
  /** Audio of the tools of type play: signed 16-bit little-endian samples at 8 kHz, by tool name. */
  readonly sounds: ReadonlyMap<string, Buffer>;
  openModel(events: ModelEvents): Model;
  /** Sends a message to the service. */
  send(message: Json): void;
  /** Reports how the call continues after the stream, before the stream ends. The last report counts. */
  ends(outcome: Outcome): void;
  print(line: string): void;
}

/** Pause after which pressed keys are passed to the model, in ms. */
const KEYS_MS = 1500;
const MAX_KEYS = 40;
/** Maximum length of a note. */
const MAX_NOTE = 1000;
/** Maximum number of notes with the words of one turn. */
const MAX_NOTES_PER_TURN = 20;
/** Prefix of the item names of sounds, which the model does not know. */
const SOUND = 'sound-';
/** Audio that may wait for playback, in ms. A model that speaks endlessly exceeds it. */
const MAX_AHEAD_MS = 600_000;
/** Interval between checks of a cost limit, in ms. */
const COST_MS = 5000;
/** Maximum number of `clearAudio` messages without a reply. */
const MAX_CLEARS = 20;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

type Timer = 'connect' | 'answer' | 'silence' | 'minutes' | 'keys' | 'cost';

export class Conversation {
  readonly #needs: ConversationNeeds;
  readonly #playback: Playback;
  readonly #pacing: Pacing;
  readonly #costs: Costs;
  readonly #tools: ToolRunner;
  readonly #timers = new Map<Timer, () => void>();
  readonly #startMs: number;
  /** Reasons of the `clearAudio` messages whose reply is pending. `reported`: the position is known. */
  readonly #clears: ('interruption' | 'resumption' | 'reported')[] = [];
  readonly #model: Model;
  #keys = '';
  #sounds = 0;
  /** The service cleared the audio and drops more until it receives `clearAudio`. */
  #mutedByService = false;
  #isReady = false;
  #isTransferring = false;
  #isOver = false;

  constructor(needs: ConversationNeeds) {
    const { agent, clock, network } = needs;
    this.#needs = needs;
    this.#playback = new Playback(clock);
    this.#pacing = new Pacing((message) => needs.send(message));
    this.#costs = new Costs(agent.prices);
    this.#startMs = clock.monotonicMs();
    this.#tools = new ToolRunner({
      tools: agent.tools,
      sounds: needs.sounds,
      limit: agent.limits.toolCalls,
      clock,
      network,
      send: (message) => this.#send(message),
      play: (payload) => this.#play(payload),
      result: (call, text) => {
        if (this.#isOver) return;
        this.#model.toolResult(call, text);
        this.#expectAnswer();
      },
      ends: (outcome) => this.#leave(outcome, true),
      loops: () => this.#fail('the model called functions endlessly'),
      // The service ends the stream; the document then only hangs up.
      connected: () => needs.ends({ kind: 'hangup' }),
      note: (text, facts) => this.#note(text, facts),
    });
    this.#after('connect', agent.limits.connectSeconds * SECOND_MS, () =>
      this.#fail('the model did not accept the session in time'),
    );
    this.#after('minutes', agent.limits.minutes * MINUTE_MS, () => this.#limit('minutes'));
    this.#model = needs.openModel(this.#modelEvents());
    this.#active();
    if (agent.limits.cost !== undefined) this.#watchCost();
  }

  /** Handles one message of the service. Malformed messages are ignored. */
  receive(text: string): void {
    const message = readJson(text);
    if (message === undefined) return;
    // The caller hears the last words, or interrupts them.
    if (this.#isOver) {
      if (message['event'] === 'playedStream') this.#pacing.reached(textOf(message['name']));
      if (message['event'] === 'clearedAudio' && !this.#isReply(message)) this.#pacing.clear();
      return;
    }
    switch (message['event']) {
      case 'media':
        this.#hear(part(message, 'media'));
        break;
      case 'speechStarted':
        this.#active();
        break;
      case 'playedStream':
        this.#playback.reached(textOf(message['name']));
        this.#pacing.reached(textOf(message['name']));
        break;
      case 'clearedAudio':
        this.#cleared(message);
        break;
      case 'dtmf':
        this.#key(textOf(part(message, 'dtmf')['digit']));
        break;
      case 'transfer':
        this.#transferred(part(message, 'transfer'));
        break;
      case 'error':
        this.#needs.print(`service: ${textOf(part(message, 'error')['message'])}`);
        break;
      default:
    }
  }

  /** Ends the conversation because the stream or the call has ended. */
  close(): void {
    this.#pacing.close();
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#tools.close();
    this.#model.close();
    this.#needs.print(
      `call ended after ${Math.round(this.#ageMs() / SECOND_MS)} s${this.#costText()}`,
    );
  }

  #modelEvents(): ModelEvents {
    const guarded =
      <A extends readonly unknown[]>(run: (...args: A) => void) =>
      (...args: A): void => {
        if (!this.#isOver) run(...args);
      };
    return {
      ready: guarded(() => this.#ready()),
      audio: guarded((audio) => {
        if (this.#audio(audio)) this.#expectRest();
      }),
      callerSpeaks: guarded(() => this.#callerSpeaks()),
      callerFinished: guarded(() => this.#expectAnswer()),
      said: guarded((who, text) => this.#said(who, text)),
      tool: guarded((call) => {
        this.#cancel('answer');
        this.#active();
        this.#tools.run(call);
      }),
      toolsCancelled: guarded((ids) => this.#tools.cancel(ids)),
      responded: guarded(() => {
        this.#cancel('answer');
        this.#tools.responded();
      }),
      used: guarded((usage) => {
        this.#costs.add(usage);
        this.#checkCost();
      }),
      warning: guarded((text) => this.#note(`warning: ${text}`)),
      failed: guarded((cause) => this.#fail(cause)),
    };
  }

  #ready(): void {
    this.#isReady = true;
    this.#cancel('connect');
    const { greeting } = this.#needs.agent;
    if (greeting === undefined) return;
    this.#model.greet(greeting);
    this.#expectAnswer();
  }

  #hear({ track, payload }: Json): void {
    if (track === 'inbound' && typeof payload === 'string') this.#model.hear(payload);
  }

  /** Returns false if the audio belongs to an item that the caller has interrupted. */
  #audio(audio: ModelAudio): boolean {
    for (const piece of piecesOf(audio)) if (!this.#piece(piece)) return false;
    return true;
  }

  #piece(audio: ModelAudio): boolean {
    const checkpoints = this.#playback.add(audio);
    if (checkpoints === undefined) return false;
    this.#cancel('answer');
    if (this.#playback.leftMs > MAX_AHEAD_MS) return this.#failAudio();
    if (this.#mutedByService) {
      this.#mutedByService = false;
      this.#clears.push('resumption');
      this.#send({ event: 'clearAudio' });
    }
    if (!this.#pacing.audio(audio, checkpoints)) return this.#failAudio();
    this.#active();
    return true;
  }

  #failAudio(): false {
    this.#fail('the model sent more audio than the caller can hear');
    return false;
  }

  /** The caller waits silently for a colleague: the limit of silence does not apply. */
  #transferred(transfer: Json): void {
    this.#isTransferring = transfer['status'] === 'ringing';
    if (this.#isTransferring) this.#cancel('silence');
    else this.#active();
    this.#tools.transferred(transfer);
  }

  #play(payload: string): void {
    this.#sounds += 1;
    this.#audio({ item: `${SOUND}${this.#sounds}`, payload, rate: 8000 });
  }

  #callerSpeaks(): void {
    this.#active();
    this.#cancel('answer');
    if (this.#needs.agent.interruption === 'none') return;
    if (!this.#playback.isPlaying || this.#clears.length >= MAX_CLEARS) return;
    this.#clears.push('interruption');
    this.#playback.clear();
    this.#pacing.clear();
    this.#send({ event: 'clearAudio' });
  }

  /** Reports the interruption to the model, with the audio that the caller has heard. */
  #cleared(message: Json): void {
    const [why] = this.#clears;
    if (!this.#isReply(message)) {
      this.#cancel('answer');
      this.#mutedByService = true;
      this.#playback.clear();
      this.#pacing.clear();
    } else if (why !== 'interruption') return;
    for (const { item, playedMs } of this.#playback.cleared(message['playedMs']))
      if (!item.startsWith(SOUND)) this.#model.interrupted(item, Math.floor(playedMs));
  }

  /** Whether a `clearAudio` is pending: if speech cleared the audio before it, the service plays what follows it. */
  #isReply({ reason }: Json): boolean {
    const [pending] = this.#clears;
    if (reason !== 'bargeIn') this.#clears.shift();
    else if (pending === 'interruption') this.#clears[0] = 'reported';
    return pending !== undefined || reason !== 'bargeIn';
  }

  #key(digit: string): void {
    if (!/^[0-9*#A-D]$/.test(digit)) return;
    this.#active();
    this.#keys = (this.#keys + digit).slice(-MAX_KEYS);
    this.#after('keys', KEYS_MS, () => {
      const keys = this.#keys;
      this.#keys = '';
      if (!this.#isReady) return;
      this.#model.notify(`The caller pressed these keys: ${keys}`);
      this.#expectAnswer();
    });
  }

  #said(who: Speaker, text: string): void {
    for (const part of pieces(text, MAX_NOTE).slice(0, MAX_NOTES_PER_TURN))
      this.#send({ event: 'note', note: { kind: 'transcript', speaker: who, text: part } });
  }

  #note(text: string, facts: Json = {}): void {
    this.#needs.print(text);
    this.#send({
      event: 'note',
      note: { kind: 'agent', text: truncate(text, MAX_NOTE), ...facts },
    });
  }

  /** A response must begin within the limit. */
  #expectAnswer(): void {
    const { answerSeconds } = this.#needs.agent.limits;
    this.#after('answer', answerSeconds * SECOND_MS, () =>
      this.#fail(`the model did not answer within ${answerSeconds} s`),
    );
  }

  /** A response that has begun must continue while its audio is being played, or end. */
  #expectRest(): void {
    this.#afterAudio('answer', this.#needs.agent.limits.answerSeconds, () =>
      this.#fail('the model stopped in the middle of a response'),
    );
  }

  /** Restarts the limit of silence, which begins after all queued audio. */
  #active(): void {
    const { silenceSeconds } = this.#needs.agent.limits;
    if (!this.#isTransferring)
      this.#afterAudio('silence', silenceSeconds, () => this.#limit('silence'));
    this.#checkCost();
  }

  /** The price of a minute accrues without events. */
  #watchCost(): void {
    this.#after('cost', COST_MS, () => {
      this.#checkCost();
      this.#watchCost();
    });
  }

  #checkCost(): void {
    const { cost } = this.#needs.agent.limits;
    if (cost === undefined || this.#costs.total(this.#ageMs()) < millionths(cost)) return;
    this.#limit('cost');
  }

  #limit(which: string): void {
    this.#note(`limit reached: ${which}`);
    // The service plays the audio that it has.
    this.#pacing.clear();
    this.#leave({ kind: 'limit' }, which !== 'silence');
  }

  #fail(cause: string): void {
    this.#note(`failed: ${cause}`);
    this.#leave({ kind: 'fallback', cause }, false);
  }

  /** Ends the stream; the document of the call then requests the outcome. `drain` plays all audio first. */
  #leave(outcome: Outcome, drain: boolean): void {
    if (this.#isOver) return;
    this.#note(`ended: ${outcome.kind}${this.#costText()}`);
    this.#needs.ends(outcome);
    if (!drain) {
      this.#pacing.clear();
      this.#send({ event: 'clearAudio' });
    }
    this.#end();
    this.#pacing.finish({ event: 'stop', drain });
  }

  #costText(): string {
    const total = this.#costs.total(this.#ageMs());
    return total === 0 ? '' : `, cost ${(total / 1_000_000).toFixed(4)}`;
  }

  #ageMs(): number {
    return this.#needs.clock.monotonicMs() - this.#startMs;
  }

  #send(message: Json): void {
    if (!this.#isOver) this.#needs.send(message);
  }

  /** Runs after all queued audio and `seconds`. Playback takes longer than expected while the call is on hold. */
  #afterAudio(timer: Timer, seconds: number, run: () => void): void {
    this.#after(timer, this.#playback.leftMs + seconds * SECOND_MS, () => {
      if (this.#playback.leftMs > 0) this.#afterAudio(timer, seconds, run);
      else run();
    });
  }

  #after(timer: Timer, ms: number, run: () => void): void {
    this.#cancel(timer);
    if (this.#isOver) return;
    const { clock } = this.#needs;
    this.#timers.set(
      timer,
      clock.at(clock.monotonicMs() + ms, () => {
        this.#timers.delete(timer);
        if (!this.#isOver) run();
      }),
    );
  }

  #cancel(timer: Timer): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
  }
}
