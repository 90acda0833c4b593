import { setTimeout as pause } from 'node:timers/promises';
import type { Bot } from '../../e2e/customer.ts';
import { Customer } from '../../e2e/customer.ts';
import { makeUser, type RunningCall, startCall } from '../../e2e/phone.ts';
import type { Service } from '../../e2e/service.ts';
import { HostileBots } from '../hostile-bots.ts';
import { playMs } from '../play-message.ts';
import type { Field, Figure, Scenario } from '../scenario.ts';

/** Number of calls per kind of bot. */
const EACH = 10;
/** Delay between the starts of two calls, ms. */
const PAUSE_MS = 100;
const FRAME_MS = 20;

/** A legitimate bot: sends 20 ms at a time, and a checkpoint every second. */
class DecentBot {
  readonly latenciesMs: number[] = [];
  requested = 0;
  lost = 0;
  #over = false;

  readonly bot: Bot = (socket) => {
    const message = playMs(FRAME_MS);
    const requestedMs = new Map<string, number>();
    let frame = 0;
    const timer = setInterval(() => {
      socket.send(message, { binary: false });
      frame += 1;
      if (frame % (1000 / FRAME_MS) !== 0 || this.#over) return;
      this.requested += 1;
      requestedMs.set(String(frame), performance.now());
      socket.send(JSON.stringify({ event: 'checkpoint', name: String(frame) }));
    }, FRAME_MS);
    socket.on('message', (data) => {
      const { event, name } = JSON.parse(String(data));
      const requested = requestedMs.get(name);
      if (event === 'playedStream' && requested !== undefined) {
        this.latenciesMs.push(performance.now() - requested);
      }
    });
    socket.on('close', () => {
      clearInterval(timer);
      if (!this.#over) this.lost += 1;
    });
  };

  stop(): void {
    this.#over = true;
  }
}

export const scenario: Scenario = {
  about: `${3 * EACH} bots of one account with messages of 8 and 4 MiB, some never completed, and one legitimate bot`,
  async prepare(service) {
    // Raises the account's call limit, because calls continue after their bots were disconnected.
    await service.admin('PATCH', `/accounts/${service.demo.authId}`, {
      concurrent_calls_limit: 1000,
      cps_limit: 100,
    });
  },
  async attack(field) {
    const customer = await Customer.listen();
    const hostile = await HostileBots.open();
    const decent = new DecentBot();
    const calls = await callAll(field, customer, {
      decent: [customer.bot('/decent-bot', decent.bot), 1],
      toolong: [hostile.urls.tooLong, EACH],
      longest: [hostile.urls.longest, EACH],
      neverending: [hostile.urls.neverEnding, EACH],
    });
    await pause(field.seconds * 1000, undefined, { signal: field.over }).catch(() => undefined);
    decent.stop();
    // Waits for the last confirmation.
    await pause(1000);
    for (const call of calls) call.hangUp();
    await Promise.allSettled(calls.map(({ report }) => report));
    const { closes, messages } = await hostile.close();
    await customer.close();
    return [
      { name: 'long messages begun', value: messages, unit: '', atLeast: 3 * EACH },
      { name: 'sockets closed with 1009', value: closes['1009'] ?? 0, unit: '', atLeast: 2 * EACH },
      ...figuresOf(decent),
    ];
  },
};

const figuresOf = ({ requested, latenciesMs, lost }: DecentBot): readonly Figure[] => [
  {
    name: 'checkpoints of the decent bot that were confirmed',
    value: (100 * latenciesMs.length) / requested,
    unit: '%',
    atLeast: 99,
  },
  {
    name: 'confirmed after, at most',
    value: Math.max(...latenciesMs),
    unit: 'ms',
    atMost: 1000,
  },
  { name: 'sockets that the decent bot lost', value: lost, unit: '', atMost: 0 },
];

/** Places the calls of one user per kind. All calls end automatically shortly after the attack. */
async function callAll(
  { service, seconds }: Field,
  customer: Customer,
  kinds: Readonly<Record<string, readonly [url: string, count: number]>>,
): Promise<readonly RunningCall[]> {
  const calls: RunningCall[] = [];
  for (const [name, [url, count]] of Object.entries(kinds)) {
    const user = await userOf(service, customer, name, url);
    for (let i = 0; i < count; i += 1) {
      const call = await startCall(service, user, { seconds: seconds + 10 });
      call.answered.catch(() => undefined);
      calls.push(call);
      await pause(PAUSE_MS);
    }
  }
  return calls;
}

function userOf(service: Service, customer: Customer, name: string, url: string) {
  const stream = `<Stream bidirectional="true" keepCallAlive="true" maxRetries="10">${url}</Stream>`;
  const answer_url = customer.xml(`/${name}`, `<Response>${stream}</Response>`);
  return makeUser(service, name, { answer_url });
}
