/** A call of another node in a conference of this node, represented by a leg from that node. */
import type { Logger } from '../../../base/logger.ts';
import type { Call, CallLogKind } from '../../call/call.ts';
import type { InboundLeg, LegPolicy } from '../../call/needs.ts';
import { haveOthersAgreed, keepConsent, watchParties } from '../../call/types.ts';
import type { NotificationDraft } from '../../callback/types.ts';
import type { Bus } from '../../cluster/needs.ts';
import type { InterpreterNeeds, Participation, VerbContext } from '../needs.ts';
import {
  AGREED,
  BEGUN,
  fromWire,
  type GuestState,
  type JoinRequest,
  NOTED,
  NOTIFY,
  placeIn,
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

const LINK_POLICY: LegPolicy = { srtp: LINK_SRTP, codecs: LINK_CODECS };

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

  /** Resolves once the guest has joined or failed to join. */
  async state(): Promise<GuestState> {
    return this.#state ?? this.#entered.promise;
  }

  /** Resolves when the guest has left, or failed to arrive. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Adopts the guest's leg. Must be called in the same event-loop turn in which the leg arrived. */
  arrived(leg: InboundLeg): void {
    const { legs, logger } = this.#needs;
    const { identity, currency, keypadEvents } = this.#request;
    const call = legs.guest(identity, {
      currency,
      keypadEvents,
      noted: (kind, text, facts) => this.#noted(kind, text, facts),
    });
    if (this.#request.consent !== undefined) keepConsent(call, this.#request.consent);
    // The home node shows the SIP messages of the call.
    call.takeInbound(leg, LINK_POLICY, { ownsMessages: false });
    this.#enter(call).catch((error: unknown) => {
      logger.error(
        { error, callUuid: call.uuid },
        'a call of another node could not join the conference',
      );
      call.hangup('internalError', 'Error');
      this.lost();
    });
  }

  /** Marks the guest as lost: it never arrived, or its leg failed. */
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
    this.#reportConsent(call, entered);
    const facts = () => ({ memberId: entered.member.id, room: roomOf(entered) });
    this.#settle({ kind: 'in', ...facts() });
    // A member on this node ends with the node, so the home node must know that the conference has begun.
    void entered.room.begins
      .then(() => this.#ask(BEGUN, [identity.callUuid]))
      .catch(() => undefined);
    const reason = await entered.member.left;
    // Passes an API hangup from this node on to the home node, which ends the call.
    const end = call.isEnded ? await call.ended : undefined;
    const hangup = end?.source === 'API Request' ? end : undefined;
    this.#state = {
      kind: 'left',
      reason,
      ...facts(),
      ...(hangup && { hangup: { cause: hangup.cause, source: hangup.source } }),
    };
    this.#over.resolve();
    call.hangup('normal', 'Platform');
  }

  /**
   * Reports to the home node whether the other members have agreed to recordings and streams: it may record what its call
   * hears. If a report that they have not fails, the guest leaves.
   */
  #reportConsent(call: Call, { room, member }: ReturnType<Conferences['enterHere']> & {}): void {
    const { callUuid } = this.#request.identity;
    const place = placeIn(room, member);
    let reported = true;
    const report = (): void => {
      const agreed = haveOthersAgreed(call);
      const guest = room.members.find(({ id }) => id === member.id);
      if (guest === undefined || agreed === reported) return;
      reported = agreed;
      this.#ask(AGREED, [callUuid, agreed, place]).catch(() => {
        if (!agreed) room.leave(guest, 'kicked');
      });
    };
    watchParties(call, report);
    report();
  }

  #settle(state: GuestState): void {
    this.#state ??= state;
    this.#entered.resolve(this.#state);
  }

  /** Context whose notifications are sent by the home node, in order with the call's other notifications. */
  #context(call: Call): VerbContext {
    const needs = this.#needs.interpreter();
    const { callbacks } = needs;
    const notify = (draft: NotificationDraft): void => {
      this.#ask(NOTIFY, [draft]).catch(() => callbacks.notify(draft)); // the home node is unavailable
    };
    return {
      call,
      needs: { ...needs, callbacks: { ...callbacks, notify } },
      signal: call.signal,
      ready: async () => undefined,
    };
  }

  #noted(kind: CallLogKind, text: string, facts: Readonly<Record<string, unknown>>): void {
    // A lost timeline entry is not worth an error.
    this.#ask(NOTED, [this.#request.identity.callUuid, kind, text, facts]).catch(() => undefined);
  }

  #ask(what: string, given: readonly unknown[]): Promise<unknown> {
    return this.#needs.bus.ask(this.#request.home, what, given);
  }
}

const roomOf = ({ room }: Participation): Participation['room'] => {
  const { uuid, name, recording, hasBegun } = room;
  return {
    uuid,
    name,
    hasBegun,
    recording: recording && { recordingId: recording.recordingId, url: recording.url },
  };
};
