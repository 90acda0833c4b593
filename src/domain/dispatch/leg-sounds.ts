/**
 * Sounds that the REST API plays on live calls. They run in the background, one per kind and leg; a new one replaces
 * the old.
 */
import type { Call } from '../call/call.ts';
import { playTo, speakTo } from '../interpreter/interpreter.ts';
import type { PlayRequest, SpeakRequest } from './control.ts';
import type { DispatchNeeds } from './needs.ts';

type Kind = 'play' | 'speak';

export class LegSounds {
  readonly #needs: Pick<DispatchNeeds, 'interpreter' | 'clock' | 'logger'>;
  readonly #running = new WeakMap<Call, Map<Kind, AbortController>>();

  constructor(needs: Pick<DispatchNeeds, 'interpreter' | 'clock' | 'logger'>) {
    this.#needs = needs;
  }

  play(leg: Call, { urls, loop, lengthMs, mix }: PlayRequest): void {
    const { clock, interpreter } = this.#needs;
    const { audio } = interpreter();
    this.#begin(leg, 'play', async (signal, stop) => {
      const cancel = clock.at(clock.monotonicMs() + lengthMs, stop);
      signal.addEventListener('abort', cancel, { once: true });
      try {
        let received = true;
        // The list is repeated only if at least one of its files can be played.
        for (let round = 0; received && (round === 0 || loop); round += 1) {
          received = false;
          for (const url of urls)
            received =
              (await playTo(leg, { audio }, url, { signal, mix, alone: !mix })) || received;
        }
      } finally {
        cancel();
      }
    });
  }

  speak(leg: Call, { text, voice, language, loop, mix }: SpeakRequest): void {
    const { speech } = this.#needs.interpreter();
    const request = { text, ssml: undefined, voice, language };
    this.#begin(leg, 'speak', async (signal) => {
      const options = { signal, mix, alone: !mix, loop: loop ? 0 : 1 };
      await speakTo(leg, { speech }, request, options);
    });
  }

  stop(leg: Call, kind: Kind): void {
    this.#running.get(leg)?.get(kind)?.abort(new Stopped());
  }

  #begin(
    leg: Call,
    kind: Kind,
    sound: (signal: AbortSignal, stop: () => void) => Promise<void>,
  ): void {
    this.stop(leg, kind);
    const own = new AbortController();
    const running = this.#running.get(leg) ?? new Map<Kind, AbortController>();
    this.#running.set(leg, running);
    running.set(kind, own);
    const signal = AbortSignal.any([leg.signal, own.signal]);
    leg.log.add('media', kind === 'play' ? 'play started' : 'speak started');
    sound(signal, () => own.abort(new Stopped()))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        this.#needs.logger.error({ error, callUuid: leg.uuid }, 'sound failed');
      })
      .finally(() => {
        if (running.get(kind) === own) running.delete(kind);
      });
  }
}

/** Abort reason when a sound is stopped. */
class Stopped extends Error {}
