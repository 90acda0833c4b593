import type { Clock } from '../../base/clock.ts';
import { answerBinding, type Flow } from '../../protocol/sip/sip.ts';
import { flowName } from './call-line.ts';
import { SourceBudgets, sourceOf } from './source-budgets.ts';

/** Requests per second of one address and port; phones send one every 24 to 29 s (RFC 5626 §4.4). */
const FLOW_PER_SECOND = 5;
/** Requests per second of one address (IPv6: /64), which may be the NAT of many phones. */
const SOURCE_PER_SECOND = 200;

/** Answers STUN keep-alives on the SIP port within a rate per flow and per source. */
export class StunAnswers {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #flows = new SourceBudgets(FLOW_PER_SECOND);
  readonly #sources = new SourceBudgets(SOURCE_PER_SECOND);
  #dropped = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Requests without an answer since the start: malformed or beyond the rate. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Returns the response to a Binding request; undefined if there is none to send. */
  answer(bytes: Uint8Array, flow: Flow): Uint8Array | undefined {
    const nowMs = this.#clock.monotonicMs();
    const isAllowed =
      this.#flows.take(flowName(flow), nowMs) &&
      this.#sources.take(sourceOf(flow.remoteAddress), nowMs);
    const { remoteAddress: address, remotePort: port } = flow;
    const answer = isAllowed ? answerBinding(bytes, { address, port }) : undefined;
    if (answer === undefined) this.#dropped += 1;
    return answer;
  }
}
