import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { UserAgent, UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';

/**
 * Drives the user agent with the clock. Inputs that arrive while outputs are processed wait, so that messages leave in
 * order. An error in the handling of one input is logged and does not affect other calls.
 */
export class AgentDriver {
  readonly #agent: UserAgent;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #act: (output: UserAgentOutput) => void;
  readonly #waiting: UserAgentInput[] = [];
  #busy = false;
  #stopped = false;
  #armedMs: number | undefined;
  #cancel: () => void = () => undefined;
  readonly #timer = (): void => {
    this.#armedMs = undefined;
    this.#busy = true;
    this.#expire();
    this.#drain();
  };

  constructor(
    agent: UserAgent,
    clock: Clock,
    logger: Logger,
    act: (output: UserAgentOutput) => void,
  ) {
    this.#agent = agent;
    this.#clock = clock;
    this.#logger = logger;
    this.#act = act;
  }

  dispatch(input: UserAgentInput): void {
    if (this.#stopped) return;
    if (this.#busy) {
      this.#waiting.push(input);
      return;
    }
    this.#busy = true;
    this.#handle(input);
    this.#drain();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #drain(): void {
    while (this.#waiting.length > 0) {
      const input = this.#waiting.shift();
      if (input !== undefined) this.#handle(input);
    }
    this.#busy = false;
    this.#rearm();
  }

  #handle(input: UserAgentInput): void {
    try {
      for (const output of this.#agent.handle(input, this.#clock.monotonicMs()))
        this.#carryOut(output);
    } catch (error) {
      this.#logger.error({ error, input: input.kind }, 'SIP handling failed');
    }
  }

  #expire(): void {
    try {
      for (const output of this.#agent.expire(this.#clock.monotonicMs())) this.#carryOut(output);
    } catch (error) {
      this.#logger.error({ error, input: 'timers' }, 'SIP handling failed');
    }
  }

  #carryOut(output: UserAgentOutput): void {
    try {
      this.#act(output);
    } catch (error) {
      this.#logger.error({ error, output: output.kind }, 'SIP event failed');
    }
  }

  #rearm(): void {
    const deadline = this.#stopped ? undefined : this.#agent.deadlineMs();
    // A timer that is set too early stays: it fires without effect and is set again. Moving it after each input would
    // cost more.
    if (deadline === undefined || (this.#armedMs ?? Number.POSITIVE_INFINITY) <= deadline) return;
    this.#cancel();
    this.#armedMs = deadline;
    this.#cancel = this.#clock.at(deadline, this.#timer);
  }
}
