/** Service side of the well-behaved calls: one stream per leg for the whole run, without an end and without drift. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Clock } from '../../src/base/clock.ts';
import { asCallUuid, asStreamId, uuid } from '../../src/base/ids.ts';
import type {
  AudioStreams,
  Media,
  StreamSocket,
  StreamSocketEnd,
} from '../../src/domain/call/needs.ts';
import { OPTIONS } from '../edge/stream/fixture.ts';
import type { SimRandom } from '../sim/random.ts';
import { faultsOfPosition } from './numbered-audio.ts';
import { openLeg } from './open-leg.ts';
import type { LineReport } from './steady-line.ts';
import type { FromSteady, ToSteady } from './steady-peers.ts';

const SCRIPT = new URL('./steady-peers.ts', import.meta.url);
const CLOSE_LIMIT_MS = 12_000;
const nothing = (): void => undefined;

export interface SteadyStreamsNeeds {
  readonly media: Media;
  readonly streams: AudioStreams;
  readonly random: SimRandom;
  readonly clock: Clock;
  readonly tlsFolder: string;
}

export class SteadyStreams {
  readonly #needs: SteadyStreamsNeeds;
  readonly #peers: ChildProcess;
  readonly #sockets: StreamSocket[] = [];
  readonly #ends: StreamSocketEnd[][] = [];
  readonly #failures: string[] = [];
  readonly #startMs: number;
  #beganMs = 0;
  #stopping = false;

  private constructor(needs: SteadyStreamsNeeds, peers: ChildProcess) {
    this.#needs = needs;
    this.#peers = peers;
    this.#startMs = needs.clock.monotonicMs();
  }

  static async start(count: number, needs: SteadyStreamsNeeds): Promise<SteadyStreams> {
    const peers = fork(SCRIPT, [String(count), needs.tlsFolder]);
    const ready = await answer(peers, 'ready');
    const self = new SteadyStreams(needs, peers);
    const ports: number[] = [];
    for (const [index, callerPort] of ready.callerPorts.entries()) {
      const leg = await openLeg(needs.media, callerPort);
      ports.push(leg.port);
      // Pairs of a talker and an echo, alternately over ws and wss.
      const base = index % 4 < 2 ? ready.ws : ready.wss;
      self.#open(`${base}/${index}`, index, leg);
    }
    self.#notify({ kind: 'talk', ports });
    return self;
  }

  /** Starts the measurement, after connections have stabilized. */
  begin(): void {
    this.#beganMs = this.#needs.clock.monotonicMs();
    this.#notify({ kind: 'begin' });
  }

  /** Returns all audio positions and their faults, and then ends all streams. */
  async finish(): Promise<{
    readonly lines: readonly LineReport[];
    readonly failures: readonly string[];
    /** Lateness of the peers' process, ms. */
    readonly late: { readonly p99: number; readonly worst: number };
  }> {
    const runMs = this.#needs.clock.monotonicMs() - this.#beganMs;
    const report = answer(this.#peers, 'report');
    this.#notify({ kind: 'report' });
    const { lines, late } = await report;
    for (const { name, down, up, lateFrames, faults } of lines) {
      const reported = [
        ...faults,
        ...faultsOfPosition(down, runMs, lateFrames).map((fault) => `caller to bot: ${fault}`),
        ...faultsOfPosition(up, runMs, lateFrames).map((fault) => `bot to caller: ${fault}`),
      ];
      this.#failures.push(...reported.map((fault) => `steady ${name}: ${fault}`));
    }
    await this.#endAll();
    this.#peers.disconnect();
    return { lines, failures: this.#failures, late };
  }

  #open(url: string, index: number, leg: Parameters<AudioStreams['open']>[1]): void {
    const { streams, random } = this.#needs;
    const ends: StreamSocketEnd[] = [];
    this.#ends.push(ends);
    this.#sockets.push(
      streams.open(
        {
          ...OPTIONS,
          url,
          streamId: asStreamId(uuid(random)),
          callUuid: asCallUuid(uuid(random)),
          rate: index % 3 === 0 ? 16_000 : 8000,
        },
        leg,
        {
          started: nothing,
          played: nothing,
          cleared: nothing,
          degraded: nothing,
          sendDigits: nothing,
          fault: (code, detail) => this.#failures.push(`steady ${index}: ${code}, ${detail}`),
          ended: (end) => {
            ends.push(end);
            if (this.#stopping) return;
            const afterS = (this.#needs.clock.monotonicMs() - this.#startMs) / 1000;
            this.#failures.push(
              `steady ${index} ended as ${JSON.stringify(end)} after ${afterS.toFixed(1)} s`,
            );
          },
        },
      ),
    );
  }

  async #endAll(): Promise<void> {
    const { clock } = this.#needs;
    this.#stopping = true;
    for (const socket of this.#sockets) socket.close('call_hangup');
    const untilMs = clock.monotonicMs() + CLOSE_LIMIT_MS;
    while (this.#ends.some(({ length }) => length === 0) && clock.monotonicMs() < untilMs) {
      await clock.sleep(50);
    }
    this.#ends.forEach(({ length }, index) => {
      if (length !== 1) this.#failures.push(`steady ${index} ended ${length} times`);
    });
  }

  #notify(message: ToSteady): void {
    this.#peers.send(message);
  }
}

function answer<K extends FromSteady['kind']>(
  peers: ChildProcess,
  kind: K,
): Promise<Extract<FromSteady, { readonly kind: K }>> {
  return new Promise((resolve, reject) => {
    peers.once('exit', (code) => reject(new Error(`the steady peers ended with ${code}`)));
    peers.on('message', (message: FromSteady) => {
      if (message.kind === kind) resolve(message as never);
    });
  });
}
