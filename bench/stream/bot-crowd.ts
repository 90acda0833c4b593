/** Both processes of bots: a few that are watched in one, so that it is idle when it is asked, and all the others. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { FromBots, ToBots, WatchedBot } from './bots.ts';

const SCRIPT = new URL('./bots.ts', import.meta.url);

export class BotCrowd {
  readonly #watchedCalls: number;
  readonly #watched: BotProcess;
  readonly #others: BotProcess;

  private constructor(watchedCalls: number, watched: BotProcess, others: BotProcess) {
    this.#watchedCalls = watchedCalls;
    this.#watched = watched;
    this.#others = others;
  }

  /** Calls below `watchedCalls` are those of watched bots. */
  static async start(watchedCalls: number, tlsFolder: string): Promise<BotCrowd> {
    const [watched, others] = await Promise.all([
      startProcess(true, tlsFolder),
      startProcess(false, tlsFolder),
    ]);
    return new BotCrowd(watchedCalls, watched, others);
  }

  urlOf(call: number, scheme: 'ws' | 'wss'): string {
    const { urls } = call < this.#watchedCalls ? this.#watched : this.#others;
    return `${urls[scheme]}/${call}`;
  }

  forget(): void {
    this.#watched.notify({ kind: 'forget' });
  }

  /** Turns the echo of watched bots on or off. */
  echo(on: boolean): void {
    this.#watched.notify({ kind: 'echo', on });
  }

  /** Messages sent back so far, over all bots. */
  async echoed(): Promise<number> {
    const counts = await Promise.all(
      [this.#watched, this.#others].map((bots) => {
        const answer = bots.answer('counted');
        bots.notify({ kind: 'count' });
        return answer;
      }),
    );
    return counts.reduce((sum, { echoed }) => sum + echoed, 0);
  }

  async probe(times: number): Promise<void> {
    const over = this.#watched.answer('probed');
    this.#watched.notify({ kind: 'probe', times });
    await over;
  }

  async report(): Promise<readonly WatchedBot[]> {
    const answer = this.#watched.answer('bots');
    this.#watched.notify({ kind: 'report' });
    return (await answer).bots;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#watched, this.#others].map((bots) => bots.stop()));
  }
}

interface BotProcess {
  readonly urls: Readonly<Record<'ws' | 'wss', string>>;
  notify(message: ToBots): void;
  answer<K extends FromBots['kind']>(kind: K): Promise<Extract<FromBots, { readonly kind: K }>>;
  stop(): Promise<void>;
}

async function startProcess(watched: boolean, tlsFolder: string): Promise<BotProcess> {
  const child = fork(SCRIPT, [watched ? '1' : '0', tlsFolder]);
  const notify = (message: ToBots): void => {
    child.send(message);
  };
  const { ws, wss } = await answerOf(child, 'ready');
  return {
    urls: { ws, wss },
    notify,
    answer: (kind) => answerOf(child, kind),
    async stop() {
      const over = once(child, 'exit');
      notify({ kind: 'stop' });
      await over;
    },
  };
}

function answerOf<K extends FromBots['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<FromBots, { readonly kind: K }>> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      act();
    };
    const onExit = (code: number | null): void =>
      settle(() => reject(new Error(`the bots ended with ${code}`)));
    const onMessage = (message: FromBots): void => {
      if (message.kind === kind) settle(() => resolve(message as never));
    };
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
