/** Runs the tool calls of one conversation. */
import type { Clock } from '../base/clock.ts';
import type { AgentTool } from './agent-file.ts';
import { type Json, textOf } from './model/json-socket.ts';
import type { ToolCall } from './model/model.ts';
import type { AgentNetwork } from './network.ts';
import type { Outcome } from './outcome.ts';
import { argumentsOf, callHttp, destinationOf, digitsOf } from './tools.ts';

export interface ToolRunnerNeeds {
  readonly tools: readonly AgentTool[];
  readonly sounds: ReadonlyMap<string, Buffer>;
  /** Maximum calls per conversation. */
  readonly limit: number;
  readonly clock: Clock;
  readonly network: AgentNetwork;
  send(message: Json): void;
  play(payload: string): void;
  result(call: ToolCall, text: string): void;
  ends(outcome: Outcome): void;
  /** The model repeats tool calls although they are refused. */
  loops(): void;
  /** A colleague has taken over the call. */
  connected(): void;
  note(text: string, facts?: Json): void;
}

/** Refused calls beyond the limit after which the model is considered to loop. */
const MAX_REFUSED = 5;
/** Maximum length of a name that the model wrote. */
const MAX_NAME = 64;
/** Time after which the call ends although the model has not completed its response, in ms. */
const LAST_WORDS_MS = 3000;

export class ToolRunner {
  readonly #needs: ToolRunnerNeeds;
  readonly #running = new Map<string, AbortController>();
  #count = 0;
  #ending: (() => void) | undefined;
  #cancelEnd: () => void = () => undefined;
  /** Call of a transfer that the service is carrying out. */
  #transfer: ToolCall | undefined;

  constructor(needs: ToolRunnerNeeds) {
    this.#needs = needs;
  }

  run(call: ToolCall): void {
    const { tools, limit } = this.#needs;
    const tool = tools.find(({ name }) => name === call.name);
    this.#count += 1;
    const args = argumentsOf(call.arguments);
    if (this.#count > limit + MAX_REFUSED) this.#needs.loops();
    else if (this.#count > limit) this.#result(call, 'error: too many tool calls');
    else if (tool === undefined) this.#result(call, 'error: there is no such tool');
    else if (typeof args === 'string') this.#result(call, args);
    else {
      this.#needs.note(`tool ${tool.name}`);
      this.#start(tool, call, args);
    }
  }

  /** The model has completed a response: an end of the call that waited for it takes place. */
  responded(): void {
    this.#ending?.();
  }

  cancel(ids: readonly string[]): void {
    for (const id of ids) {
      this.#running.get(id)?.abort();
      this.#running.delete(id);
    }
  }

  /** Handles the result of a transfer that the service reports. */
  transferred({ status, detail }: Json): void {
    const call = this.#transfer;
    if (status === 'answered') this.#needs.connected();
    if (call === undefined || status === 'ringing' || status === 'answered') return;
    this.#transfer = undefined;
    const why = textOf(detail);
    this.#needs.result(call, `transfer ${textOf(status)}${why === '' ? '' : `: ${why}`}`);
  }

  close(): void {
    this.#ending = undefined;
    this.#cancelEnd();
    for (const one of this.#running.values()) one.abort();
    this.#running.clear();
  }

  #start(tool: AgentTool, call: ToolCall, args: Json): void {
    switch (tool.type) {
      case 'http':
        void this.#http(tool, call, args);
        break;
      case 'transfer':
        this.#transferTo(tool, call, args);
        break;
      case 'hangup':
        this.#endWith({ kind: 'hangup' });
        break;
      case 'digits': {
        const digits = digitsOf(args);
        if (digits !== undefined) this.#needs.send({ event: 'sendDTMF', dtmf: digits });
        this.#result(call, digits === undefined ? 'error: invalid digits' : 'sent');
        break;
      }
      case 'play':
        this.#needs.play(this.#needs.sounds.get(tool.name)?.toString('base64') ?? '');
        this.#needs.result(call, 'playing');
        break;
    }
  }

  async #http(tool: AgentTool, call: ToolCall, args: Json): Promise<void> {
    const over = new AbortController();
    this.#running.set(call.id, over);
    const { network } = this.#needs;
    const result = await callHttp(tool, args, { network, signal: over.signal });
    if (!this.#running.delete(call.id) || over.signal.aborted) return;
    this.#result(call, result);
  }

  #transferTo(tool: AgentTool, call: ToolCall, args: Json): void {
    const to = destinationOf(tool, args);
    const { mode, callerId } = tool;
    if (to === undefined) this.#result(call, 'error: this destination is not allowed');
    else if (mode === 'blind') this.#endWith({ kind: 'transfer', to, callerId });
    else if (this.#transfer !== undefined)
      this.#result(call, 'error: another transfer is in progress');
    else this.#request(tool, call, { to, introduction: textOf(args['reason']).slice(0, 500) });
  }

  /** Returns a result to the model. Errors are in the timeline, too. */
  #result(call: ToolCall, text: string): void {
    if (text.startsWith('error: '))
      this.#needs.note(`tool ${call.name.slice(0, MAX_NAME)}: ${text}`);
    this.#needs.result(call, text);
  }

  /** Asks the service to call the colleague while the model stays with the caller. */
  #request(
    { mode, callerId, music }: AgentTool,
    call: ToolCall,
    { to, introduction }: { readonly to: string; readonly introduction: string },
  ): void {
    this.#transfer = call;
    this.#needs.send({
      event: 'transfer',
      transfer: {
        mode,
        to,
        ...(callerId !== undefined && { callerId }),
        ...(music !== undefined && { music }),
        ...(introduction !== '' && { introduction }),
      },
    });
  }

  /** Ends the call when the model has said its last words. */
  #endWith(outcome: Outcome): void {
    if (this.#ending !== undefined) return;
    const { clock } = this.#needs;
    const end = (): void => {
      this.#cancelEnd();
      this.#needs.ends(outcome);
    };
    this.#ending = end;
    this.#cancelEnd = clock.at(clock.monotonicMs() + LAST_WORDS_MS, end);
  }
}
