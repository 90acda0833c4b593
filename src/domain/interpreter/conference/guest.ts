/** A call of another node in a conference of this one: a leg from that node stands for it. */
import type { Logger } from '../../../base/logger.ts';
import type { Call, CallLogKind } from '../../call/call.ts';
import type { InboundLeg, MediaWish } from '../../call/needs.ts';
import type { NotificationDraft } from '../../callback/types.ts';
import type { Bus } from '../../cluster/needs.ts';
import type { InterpreterNeeds, Participation, VerbContext } from '../needs.ts';
import {
  BEGUN,
  fromWire,
  type GuestState,
  type JoinRequest,
  NOTED,
  NOTIFY,
} from './between-nodes.ts';
import type { Conferences } from './conferences.ts';
import { LINK_CODECS, LINK_SRTP, type NodeLegs } from './node-legs.ts';
import type { Rosters } from './rosters.ts';

export interface GuestNeeds {
  readonly own: Pick<Conferences, 'enterHere'>;
  readonly legs: NodeLegs;
  readonly rosters: Rosters;
  readonly bus: Bus;
  readonly interpreter: () => InterpreterNeeds;
  readonly logger: Logger;
}

const WISH: MediaWish = { srtp: LINK_SRTP, codecs: LINK_CODECS };

export class Guest {
  readonly #needs: GuestNeeds;
  readonly #request: JoinRequest;
  readonly #entered = Promise.withResolvers<GuestState>();
  readonly #over = Promise.withResolvers<void>();
  #state: GuestState | undefined;
  #participation: Participation | undefined;

  constructor(request: JoinRequest, needs: GuestNeeds) {
    this.#request = request;
    this.#needs = needs;
  }

  /** Once it is known whether it is in. */
  async state(): Promise<GuestState> {
    return this.#state ?? this.#entered.promise;
  }

  /** Resolves when it has left, or never came. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Its leg has arrived. To be called in the same turn. */
  arrived(leg: InboundLeg): void {
    const { legs, logger } = this.#needs;
    const { identity, currency, keypadEvents } = this.#request;
    const call = legs.guest(identity, {
      ...{ currency, keypadEvents },
      noted: (kind, text, facts) => this.#noted(kind, text, facts),
    });
    call.takeInbound(unowned(leg), WISH);
    this.#enter(call).catch((error: unknown) => {
      logger.error({ error, callUuid: call.uuid }, 'call of another node not joined');
      call.hangup('internalError', 'Error');
      this.lost();
    });
  }

  /** It never came, or its leg is of no use. */
  lost(): void {
    this.#settle({ kind: 'unknown' });
    this.#over.resolve();
  }

  async leave(): Promise<GuestState> {
    await this.#participation?.leave();
    await this.#over.promise;
    return this.state();
  }

  async #enter(call: Call): Promise<void> {
    if (!(await call.answer(async () => undefined))) {
      this.lost();
      return;
    }
    const { instruction, goesOn, identity } = this.#request;
    const context = this.#context(call);
    this.#needs.rosters.guest(call, this.#request.home);
    const entered = this.#needs.own.enterHere(fromWire(instruction), context, goesOn);
    if (entered === undefined) {
      this.#settle({ kind: 'full' });
      this.#over.resolve();
      call.hangup('busy', 'Platform', 'the conference is full');
      return;
    }
    this.#participation = entered;
    this.#needs.rosters.watch(entered.room);
    const facts = () => ({ memberId: entered.member.id, room: roomOf(entered) });
    this.#settle({ kind: 'in', ...facts() });
    // Its node has to know when this one dies.
    void entered.room.begins
      .then(() => this.#ask(BEGUN, [identity.callUuid]))
      .catch(() => undefined);
    const reason = await entered.member.left;
    // On whose wish its leg ended: its own node's, or of somebody who asked this one.
    const end = call.isEnded ? await call.ended : undefined;
    const hangup = end?.source === 'API Request' ? end : undefined;
    this.#state = {
      ...{ kind: 'left', reason, ...facts() },
      ...(hangup && { hangup: { cause: hangup.cause, source: hangup.source } }),
    };
    this.#over.resolve();
    call.hangup('normal', 'Platform');
  }

  #settle(state: GuestState): void {
    this.#state ??= state;
    this.#entered.resolve(this.#state);
  }

  /** Everything about the call is told by its own node, in order with what else that has to tell. */
  #context(call: Call): VerbContext {
    const needs = this.#needs.interpreter();
    const { callbacks } = needs;
    const notify = (draft: NotificationDraft): void => {
      this.#ask(NOTIFY, [draft]).catch(() => callbacks.notify(draft)); // its node is gone
    };
    return {
      call,
      needs: { ...needs, callbacks: { ...callbacks, notify } },
      signal: call.signal,
      ready: async () => undefined,
    };
  }

  #noted(kind: CallLogKind, text: string, facts: Readonly<Record<string, unknown>>): void {
    // A line of a timeline is not worth a fault.
    this.#ask(NOTED, [this.#request.identity.callUuid, kind, text, facts]).catch(() => undefined);
  }

  #ask(what: string, given: readonly unknown[]): Promise<unknown> {
    return this.#needs.bus.ask(this.#request.home, what, given);
  }
}

const roomOf = ({ room }: Participation): Participation['room'] => {
  const { uuid, name, recording, hasBegun } = room;
  return {
    ...{ uuid, name, hasBegun },
    recording: recording && { recordingId: recording.recordingId, url: recording.url },
  };
};

/** Its messages are no call's of this node: the call's own node shows them. */
function unowned(leg: InboundLeg): InboundLeg {
  return new Proxy(leg, {
    get(target, property) {
      if (property === 'belongsTo') return undefined;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
