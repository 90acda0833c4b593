/** Manages attempts: stored before the call is placed, closed exactly once. */

import { wallUs } from '../../base/clock.ts';
import { isUnreadable, ServiceError, UnknownOutcomeError } from '../../base/errors.ts';
import { type CallUuid, newCallUuid } from '../../base/ids.ts';
import { noOperation } from '../../base/no-operation.ts';
import type { StoredNotification } from '../callback/types.ts';
import { contactEvent, finishOf, NO_CALL, UNKNOWN_END } from './attempt-end.ts';
import type { DialerNeeds } from './dialer-needs.ts';
import type { LiveCampaign } from './live-campaign.ts';
import type {
  AttemptFinish,
  CampaignCallEnd,
  ContactDecision,
  DueContact,
  PlacingRefusal,
} from './needs.ts';
import { isRetryOver } from './outcome.ts';
import type { PoolUse } from './pool-holds.ts';
import type { Agent, Attempt, Campaign, Contact } from './types.ts';
import { dayOf, dayStartUs, nextDayStartUs } from './zoned-time.ts';

/** Caller ID of a call. */
export interface Caller {
  readonly number: string;
  /** Reservation of the pool number. Undefined if the number is not from a pool. */
  readonly use: PoolUse | undefined;
}

/** An attempt whose start is stored. */
interface Begun {
  readonly callUuid: CallUuid;
  readonly contact: Contact;
  readonly from: string;
  readonly use: PoolUse | undefined;
  readonly placedUs: number;
}

/** End of an attempt, to be stored. */
interface Ending {
  readonly campaign: Campaign;
  readonly contact: Contact;
  readonly from: string | undefined;
  readonly end: CampaignCallEnd;
  /** Builds what is stored. Called for each try, because the campaign may change in between. */
  readonly finish: () => AttemptFinish;
}

/** Data stored at the end of an attempt. After an unknown outcome, the same data is stored again. */
interface Written {
  readonly finish: AttemptFinish;
  readonly notifications: readonly StoredNotification[];
}

/** Result of placing a call. */
export type Placed = 'begun' | PlacingRefusal | { readonly kind: 'failed' };

/** Pause between retries while the store refuses writes, in milliseconds. */
const STORE_RETRY_MS = 1000;
export interface AttemptHooks {
  /** Called after each attempt with the stored campaign. `refused` is the reason if there was no call. */
  ended(campaign: Campaign, refused: CampaignCallEnd['refused']): void;
  /** Called when a pool use became final or was returned. */
  poolSettled(live: LiveCampaign): void;
}

export class Attempts {
  readonly #needs: DialerNeeds;
  readonly #hooks: AttemptHooks;
  /** Calls being placed, and attempts whose end is not stored. */
  readonly #open = new Set<Promise<unknown>>();

  constructor(needs: DialerNeeds, hooks: AttemptHooks) {
    this.#needs = needs;
    this.#hooks = hooks;
  }

  /** Returns the contacts that may be called now. Gives the others a final status or a later due time. */
  async select(live: LiveCampaign, found: readonly DueContact[]): Promise<readonly DueContact[]> {
    const decided = found.flatMap((due) => this.#decisionOf(live.campaign, due) ?? []);
    if (decided.length > 0) await this.decide(live, found, decided);
    const refused = new Set(decided.map(({ contactId }) => contactId));
    return found.filter(({ contact }) => !refused.has(contact.id));
  }

  async decide(
    live: LiveCampaign,
    found: readonly Pick<DueContact, 'contact'>[],
    decisions: readonly ContactDecision[],
  ): Promise<void> {
    const { store, webhooks } = this.#needs;
    const { campaign } = live;
    const notifications = decisions.flatMap(({ contactId, status }) => {
      const contact = found.find((due) => due.contact.id === contactId)?.contact;
      const isReported = status === 'failed' || status === 'expired';
      if (contact === undefined || !isReported) return [];
      return webhooks.compose(campaign, contactEvent(contact, status, this.#nowUs())) ?? [];
    });
    const changed = await store.decide(campaign.id, decisions, notifications);
    for (const notification of notifications) webhooks.deliver(notification);
    if (changed !== undefined) live.campaign = changed;
  }

  #decisionOf(
    campaign: Campaign,
    { contact, doNotCall, callsOfDay }: DueContact,
  ): ContactDecision | undefined {
    const nowUs = this.#nowUs();
    const contactId = contact.id;
    if (doNotCall) {
      return { contactId, status: 'failed', reason: 'do_not_call', dueUs: undefined };
    }
    if (isRetryOver(campaign, contact, nowUs)) {
      return { contactId, status: 'expired', reason: 'retry_window_over', dueUs: undefined };
    }
    if (callsOfDay < this.#needs.settings.maxCallsPerDay) return undefined;
    const dueUs = nextDayStartUs(nowUs, campaign.timezone);
    return { contactId, status: contact.status, reason: 'daily_limit', dueUs };
  }

  // ---------------------------------------------------------------- start

  /** Places a call for a contact. Never rejects. */
  place(live: LiveCampaign, agent: Agent, due: DueContact, caller: Caller): Promise<Placed> {
    return this.#tracked(this.#place(live, agent, due, caller));
  }

  /** Resolves when no call is being placed and the ends of all attempts are stored. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  /** Tracks work for `idle`. It never rejects. */
  #tracked<T>(work: Promise<T>): Promise<T> {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
    return work;
  }

  async #place(
    live: LiveCampaign,
    agent: Agent,
    { contact }: DueContact,
    caller: Caller,
  ): Promise<Placed> {
    const { campaign } = live;
    const callUuid = newCallUuid(this.#needs.random, this.#needs.clock.wallMs());
    const begun = { callUuid, contact, from: caller.number, use: caller.use };
    let placedUs: number | undefined;
    try {
      const placed = await this.#needs.calls.place(
        { callUuid, campaignId: campaign.id, owner: campaign, agent, contact, from: caller.number },
        async () => {
          const atUs = this.#nowUs();
          const isBegun = await this.#begin(live, { ...begun, placedUs: atUs });
          if (isBegun !== false) placedUs = atUs;
          if (isBegun instanceof UnknownOutcomeError) throw isBegun;
          return isBegun;
        },
      );
      if (!placed.ok) {
        this.#settle(live, caller.use);
        return placed.error;
      }
      void placed.value.reached?.then(() => this.#settle(live, caller.use));
      const stored = { ...begun, placedUs: placedUs ?? this.#nowUs() };
      void this.#tracked(this.#follow(live, stored, placed.value.ended));
      return 'begun';
    } catch (error) {
      this.#needs.logger.error({ error, callUuid, campaignId: campaign.id }, 'call not placed');
      // `CallPlacing.place` rejects only if it sent no request.
      if (placedUs === undefined) this.#settle(live, caller.use);
      else await this.#close(live, { ...begun, placedUs }, NO_CALL);
      return { kind: 'failed' };
    }
  }

  /**
   * Stores the start of an attempt. Returns false if it was refused, and the error if it may be stored: like a stored
   * attempt, it must be closed.
   */
  async #begin(live: LiveCampaign, start: Begun): Promise<boolean | UnknownOutcomeError> {
    const { callUuid, contact, from, use, placedUs } = start;
    const { store, settings } = this.#needs;
    const { campaign } = live;
    const { maxCalls, maxCallsPerDay } = campaign.pool;
    const day = dayOf(placedUs, campaign.timezone);
    const unknown = (error: unknown): UnknownOutcomeError => {
      if (error instanceof UnknownOutcomeError) return error;
      throw error;
    };
    const attempt = {
      callUuid,
      campaignId: campaign.id,
      contactId: contact.id,
      attemptsBefore: contact.attempts,
      from,
      placedUs,
      poolNumber: use && { id: use.id, day, maxCalls, maxCallsPerDay },
      maxCallsOfDay: settings.maxCallsPerDay,
      dayStartUs: dayStartUs(placedUs, campaign.timezone),
    };
    const begun = await store.begin(attempt).catch(unknown);
    if (begun === undefined) return false;
    live.calls += 1;
    if (begun instanceof UnknownOutcomeError) return begun;
    live.campaign = begun;
    if (use !== undefined) {
      live.holds.begun(use);
      live.callerIds?.begun(use, placedUs);
    }
    return true;
  }

  #settle(live: LiveCampaign, use: PoolUse | undefined): void {
    if (use !== undefined && live.holds.release(use)) this.#hooks.poolSettled(live);
  }

  // ---------------------------------------------------------------- end

  /** Waits for the end of the call and closes the attempt. Never rejects. */
  async #follow(live: LiveCampaign, begun: Begun, ended: Promise<CampaignCallEnd>): Promise<void> {
    let end: CampaignCallEnd;
    try {
      end = await ended;
    } catch (error) {
      this.#needs.logger.error({ error, callUuid: begun.callUuid }, 'the end of a call is unknown');
      const endedUs = this.#nowUs();
      end = { ...UNKNOWN_END, answeredUs: undefined, endedUs, refused: undefined };
    }
    await this.#close(live, begun, end);
  }

  async #close(live: LiveCampaign, begun: Begun, end: CampaignCallEnd): Promise<void> {
    const { abandonment, maxConcurrent } = live.campaign;
    if (end.answeredUs !== undefined && end.abandoned !== undefined) {
      live.pace.answered(end.abandoned, abandonment, maxConcurrent);
    }
    const { contact, callUuid, from, use, placedUs } = begun;
    const attempt = { attemptNumber: contact.attempts + 1, placedUs };
    const firstDialUs = contact.firstDialUs ?? placedUs;
    const finish = (): AttemptFinish =>
      finishOf(live.campaign, { ...attempt, callUuid, firstDialUs }, end);
    const ending = { campaign: live.campaign, contact, from, end, finish };
    const isWritten = await this.#write(ending, (changed) => {
      live.campaign = changed;
    });
    // Updated only after the write, because the next choice may depend on the end of this attempt.
    live.calls -= 1;
    // The store has returned the pool use of a refused call.
    if (end.refused !== undefined) live.callerIds = undefined;
    this.#settle(live, use);
    if (isWritten) this.#hooks.ended(live.campaign, end.refused);
  }

  /**
   * Stores the end, with unlimited retries. Returns false if the attempt was closed before or the store is closed. `stored` is
   * called with the changed campaign in the same turn as the answer of the store: in a later turn, the answer to a later
   * change may have arrived.
   */
  async #write(ending: Ending, stored: (changed: Campaign) => void): Promise<boolean> {
    const { store, clock, logger } = this.#needs;
    let unknown: Written | undefined;
    for (;;) {
      const written = unknown ?? this.#written(ending);
      const { finish, notifications } = written;
      try {
        const changed = await store.finish(finish, notifications);
        // After an unknown outcome, an attempt that is closed was closed by the earlier try.
        const after = changed ?? (unknown && (await store.current(ending.campaign.id)));
        if (after === undefined) return false;
        stored(after);
        for (const one of notifications) this.#needs.webhooks.deliver(one);
        return true;
      } catch (error) {
        logger.error({ error, callUuid: finish.callUuid }, 'end of an attempt not written');
        if (!(error instanceof ServiceError) || error.code === 'STORE_CLOSED') return false;
        if (error instanceof UnknownOutcomeError) unknown = written;
        await clock.sleep(STORE_RETRY_MS);
      }
    }
  }

  #written({ campaign, contact, from, end, finish: finishNow }: Ending): Written {
    const finish = finishNow();
    const { status } = finish.contact;
    const isReported = status !== 'pending' && finish.contact.counts;
    const facts = { ...end, from, callUuid: finish.callUuid };
    const event = isReported ? contactEvent(contact, status, this.#nowUs(), facts) : undefined;
    const notification = event && this.#needs.webhooks.compose(campaign, event);
    return { finish, notifications: notification === undefined ? [] : [notification] };
  }

  // ---------------------------------------------------------------- after a crash

  /** Closes attempts that an earlier process left open, based on the records of their calls. */
  async recover(): Promise<void> {
    for (const attempt of await this.#needs.store.openAttempts()) {
      try {
        await this.#recover(attempt);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        const { callUuid, campaignId } = attempt;
        // It stays open: a later start with a readable campaign closes it.
        this.#needs.logger.error({ error, callUuid, campaignId }, 'attempt not closed');
      }
    }
  }

  async #recover(attempt: Attempt): Promise<void> {
    const { store, logger } = this.#needs;
    const end = await this.#endOf(attempt);
    const campaign = await store.get(attempt.campaignId);
    if (campaign === undefined) return;
    const { callUuid, campaignId } = attempt;
    try {
      const contact = await store.contact(attempt.contactId);
      if (contact === undefined) return;
      const firstDialUs = contact.firstDialUs ?? attempt.placedUs;
      const finish = (): AttemptFinish => finishOf(campaign, { ...attempt, firstDialUs }, end);
      await this.#write({ campaign, contact, from: attempt.from, end, finish }, noOperation);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      const firstDialUs = attempt.placedUs;
      const ended = finishOf(campaign, { ...attempt, firstDialUs }, end);
      const failed = { status: 'failed', reason: 'unreadable', dueUs: undefined } as const;
      await store.finish({ ...ended, contact: { ...failed, counts: ended.contact.counts } }, []);
    }
    logger.warn({ callUuid, campaignId }, 'attempt closed after a stop');
  }

  /** Returns the end of the call of an attempt. Without a record there was no call; the end in an unreadable record is unknown. */
  async #endOf({ callUuid, placedUs }: Attempt): Promise<CampaignCallEnd> {
    const none = { ...NO_CALL, endedUs: placedUs };
    try {
      return (await this.#needs.calls.endOf(callUuid)) ?? none;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { ...UNKNOWN_END, answeredUs: undefined, endedUs: placedUs, refused: undefined };
    }
  }

  #nowUs(): number {
    return wallUs(this.#needs.clock);
  }
}
