import type { ReferCommand, ReferEvents } from '../../domain/call/needs.ts';
import type { LegId, ReferStep, UserAgentInput } from '../../protocol/sip/sip.ts';

/** Pending outgoing REFER of one leg. */
export class EdgeReferral {
  readonly #dispatch: (input: UserAgentInput) => void;
  readonly #leg: LegId;
  #events: ReferEvents | undefined;

  constructor(dispatch: (input: UserAgentInput) => void, leg: LegId) {
    this.#dispatch = dispatch;
    this.#leg = leg;
  }

  start({ to, by, isGuarded }: ReferCommand, events: ReferEvents): () => void {
    this.#events = events;
    const guard = isGuarded ? { receivedAt: [], allow: [] } : undefined;
    this.#dispatch({ kind: 'refer', leg: this.#leg, to, by, guard });
    return () => {
      if (this.#events !== events) return;
      this.#events = undefined;
      this.#dispatch({ kind: 'forgetRefer', leg: this.#leg });
    };
  }

  stepped(step: ReferStep): void {
    const events = this.#events;
    if (step.what === 'refused' || step.what === 'done' || step.what === 'failed') {
      this.#events = undefined;
    }
    events?.stepped(step);
  }
}
