/** The process that runs the agents of applications. It starts with the first request, and again after a crash. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { HostReply, HostRequest } from '../agent/host-messages.ts';
import type { Clock } from '../base/clock.ts';
import { hashHex } from '../base/hash.ts';
import type { Logger } from '../base/logger.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { Application } from '../domain/provisioning/types.ts';
import type { EgressOptions } from '../edge/egress/egress.ts';
import type { AgentPlace } from '../edge/webhook/agent-applications.ts';

const PROGRAM = fileURLToPath(new URL('../agent/host.ts', import.meta.url));
/** Maximum time for an agent to start, in ms. */
const START_MS = 10_000;
/** Time between SIGTERM and SIGKILL when the service stops, in ms. */
const STOP_MS = 5000;
/** Maximum number of unanswered requests. */
const MAX_WAITING = 1000;

export interface AgentHostOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Destinations that the agents may reach: those of callbacks. */
  readonly egress: Pick<EgressOptions, 'allow' | 'allowLoopback' | 'allowInsecure'>;
  /** Starts the process with an IPC channel. */
  readonly start?: () => ChildProcess;
}

export class AgentHost {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #start: () => ChildProcess;
  readonly #waiting = new Map<number, (reply: HostReply) => void>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #isStopped = false;

  constructor({ clock, logger, egress, start }: AgentHostOptions) {
    this.#clock = clock;
    this.#logger = logger;
    this.#start = start ?? (() => forkHost(egress));
  }

  /** Starts the agent of the application, or finds it running. */
  async run({ appId, agent = '' }: Application, url: string): Promise<Result<AgentPlace, string>> {
    if (this.#isStopped) return err('the service is stopping');
    if (this.#waiting.size >= MAX_WAITING) return err('too many agents are starting');
    this.#lastId += 1;
    const id = this.#lastId;
    const request: HostRequest = {
      id,
      key: `${appId} ${hashHex('sha256', agent)}`,
      definition: agent,
      url,
    };
    const reply = await new Promise<HostReply>((resolve) => {
      const cancel = this.#clock.at(this.#clock.monotonicMs() + START_MS, () =>
        this.#settle({ id, error: 'the agent did not start in time' }),
      );
      this.#waiting.set(id, (one) => {
        cancel();
        resolve(one);
      });
      const child = this.#running();
      // A process that could not be created has no IPC channel; its `error` event settles the request.
      if (child.pid === undefined) return;
      child.send(request, (error) => {
        if (error) this.#settle({ id, error: error.message });
      });
    });
    if ('error' in reply) return err(reply.error);
    return ok({ port: reply.port, password: reply.password });
  }

  /** Ends the process. Calls with agents must have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const child = this.#child;
    // A process that could not be created has no ID and emits no `exit`.
    if (child?.pid === undefined) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const cancel = this.#clock.at(this.#clock.monotonicMs() + STOP_MS, () => child.kill('SIGKILL'));
    child.kill('SIGTERM');
    await exited;
    cancel();
  }

  #running(): ChildProcess {
    if (this.#child?.connected === true && this.#child.pid !== undefined) return this.#child;
    const child = this.#start();
    this.#child = child;
    child.on('message', (reply: HostReply) => this.#settle(reply));
    child.on('error', (error) => {
      this.#logger.error({ error }, 'process of agents failed');
      // Without a process there is no exit.
      if (child.pid === undefined) this.#ended(child);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#logger.warn({ text: text.slice(0, 1000) }, 'process of agents');
    });
    child.on('exit', (code, signal) => {
      if (!this.#isStopped) this.#logger.error({ code, signal }, 'process of agents ended');
      this.#ended(child);
    });
    return child;
  }

  #ended(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
    for (const id of [...this.#waiting.keys()])
      this.#settle({ id, error: 'the process of agents ended' });
  }

  #settle(reply: HostReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    waiting?.(reply);
  }
}

const forkHost = (egress: AgentHostOptions['egress']): ChildProcess =>
  fork(PROGRAM, [JSON.stringify(egress)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
