/** A dialer in virtual time, with an in-memory store and scripted calls. */
import { wallUs } from '../../../src/base/clock.ts';
import { type AccountId, type CallUuid, uuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { err, ok } from '../../../src/base/result.ts';
import type { StoredNotification } from '../../../src/domain/callback/types.ts';
import { CampaignService, Dialer } from '../../../src/domain/campaign/campaign.ts';
import type {
  CallPlacing,
  CampaignCall,
  CampaignCallEnd,
  PlacingRefusal,
} from '../../../src/domain/campaign/needs.ts';
import type {
  Campaign,
  CampaignEvent,
  CampaignOwner,
  CampaignPlan,
  NewContact,
} from '../../../src/domain/campaign/types.ts';
import { openInMemory } from '../../edge/store/open.ts';
import { aNotification, anAccount } from '../../edge/store/records.ts';
import { SimClock } from '../../sim/clock.ts';
import { anAgent, aPlan, contactRows, OWNER } from './records.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** How a call ends, and after which time. */
export interface Script {
  readonly cause:
    | 'answered'
    | 'machine'
    | 'busy'
    | 'noAnswer'
    | 'failed'
    | 'carrier'
    | 'answerUrl'
    /** No RTP port was free, so no phone rang. */
    | 'full';
  readonly afterMs: number;
}

const CAUSES = {
  answered: ['NORMAL_CLEARING', 4000],
  machine: ['NORMAL_CLEARING', 9100],
  busy: ['USER_BUSY', 3010],
  noAnswer: ['NO_ANSWER', 3000],
  failed: ['UNALLOCATED_NUMBER', 3050],
  carrier: ['SERVICE_UNAVAILABLE', 3090],
  answerUrl: ['SERVER_ERROR', 7011],
  full: ['SWITCH_CONGESTION', 5030],
} as const;

const ANSWERED: ReadonlySet<Script['cause']> = new Set(['answered', 'machine', 'answerUrl']);

interface Dialled {
  readonly to: string;
  readonly from: string;
  readonly campaignId: string;
  readonly atMs: number;
}

/** Calls of one account within a limit. */
class FakeCalls implements CallPlacing {
  /** Maximum number of concurrent calls. */
  limit = 100;
  /** Scripts by number, `*` for all others. The last one of a list repeats. */
  readonly scripts = new Map<string, Script[]>([['*', [{ cause: 'answered', afterMs: 1000 }]]]);
  refuses: ((call: CampaignCall) => PlacingRefusal | undefined) | undefined;
  hindrance: 'accountInactive' | 'insufficientFunds' | undefined;
  /** Replaces the scripts if set. */
  next: (() => Script) | undefined;
  /** Time between the choice of a contact and the stored start of its attempt, milliseconds. */
  placingMs: () => number = () => 0;
  /** Whether a call reports that it was reached, or only its end. */
  reportsReached = false;
  readonly dialled: Dialled[] = [];
  /** Numbers with a live call. */
  readonly live = new Set<string>();
  /** Numbers that were called while a call was live. */
  readonly twice: string[] = [];
  running = 0;
  highest = 0;
  readonly #clock: SimClock;
  readonly #free: (() => void)[] = [];
  readonly #ends = new Map<CallUuid, CampaignCallEnd>();

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  async place(call: CampaignCall, begin: () => Promise<boolean>) {
    const refusal = this.refuses?.(call);
    if (refusal !== undefined) return err(refusal);
    if (this.running >= this.limit) {
      return err({ kind: 'full', of: 'account', retryAfterMs: undefined } as const);
    }
    this.running += 1;
    this.highest = Math.max(this.highest, this.running);
    const placingMs = this.placingMs();
    if (placingMs > 0) await this.#clock.sleep(placingMs);
    const release = (): void => {
      this.running -= 1;
      for (const act of this.#free) act();
    };
    if (!(await begin())) {
      release();
      return err({ kind: 'stale' } as const);
    }
    const { contact, from, campaignId } = call;
    const atMs = this.#clock.wallMs();
    this.dialled.push({ to: contact.to, from, campaignId, atMs });
    if (this.live.has(contact.to)) this.twice.push(contact.to);
    this.live.add(contact.to);
    const { cause, afterMs } = this.next?.() ?? this.#scriptOf(contact.to);
    const ended = new Promise<CampaignCallEnd>((resolve) => {
      this.#clock.at(this.#clock.monotonicMs() + afterMs, () => {
        const [hangupCause, hangupCauseCode] = CAUSES[cause];
        const endedUs = wallUs(this.#clock);
        const end: CampaignCallEnd = {
          answeredUs: ANSWERED.has(cause) ? endedUs - 1_000_000 : undefined,
          endedUs,
          hangupCause,
          hangupCauseCode,
          machine: cause === 'machine' ? true : undefined,
          refused: cause === 'full' ? 'full' : undefined,
        };
        this.#ends.set(call.callUuid, end);
        this.live.delete(contact.to);
        release();
        resolve(end);
      });
    });
    const isReached = this.reportsReached && cause !== 'full';
    return ok(isReached ? { ended, reached: Promise.resolve() } : { ended });
  }

  onFree(act: () => void): void {
    this.#free.push(act);
  }

  async mayPresent(_account: AccountId, _number: string): Promise<boolean> {
    return true;
  }

  /** Numbers whose call the balance does not cover. */
  readonly unaffordable = new Set<string>();

  async obstacle(_owner: CampaignOwner, number: string | undefined) {
    if (number !== undefined && this.unaffordable.has(number)) return 'insufficientFunds' as const;
    return this.hindrance;
  }

  async endOf(callUuid: CallUuid): Promise<CampaignCallEnd | undefined> {
    return this.#ends.get(callUuid);
  }

  #scriptOf(to: string): Script {
    const scripts = this.scripts.get(to) ?? this.scripts.get('*') ?? [];
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    return script ?? { cause: 'answered', afterMs: 1000 };
  }
}

export async function openStage(startMs = Date.UTC(2026, 0, 5, 12)) {
  const clock = new SimClock(startMs);
  const { store, random } = await openInMemory(clock);
  await store.accounts.create(anAccount({ concurrentCallsLimit: 100 }), 'token');
  const calls = new FakeCalls(clock);
  const reported: string[] = [];
  const webhooks = {
    compose: (campaign: Campaign, event: CampaignEvent) => {
      const more = 'reason' in event ? `:${event.reason}` : '';
      return aNotification({
        id: uuid(random),
        subject: campaign.id,
        event: event.kind === 'contact' ? `contact.${event.outcome}` : `${event.kind}${more}`,
      });
    },
    deliver: ({ event }: StoredNotification) => void reported.push(event),
  };
  const revokes: ((owner: CampaignOwner) => Promise<void>)[] = [];
  const needs = { store: store.campaigns, calls, webhooks, clock, random, logger: silentLogger };
  const settings = {
    maxRunning: 3,
    maxCallsPerDay: 5,
    activeMs: MINUTE_MS,
    stalledMs: 5 * MINUTE_MS,
    stalledPauseMs: 30 * MINUTE_MS,
    failures: 3,
  };
  const newDialer = () => new Dialer({ ...needs, onRevoked: (act) => revokes.push(act), settings });
  const dialer = newDialer();
  const campaigns = new CampaignService({
    ...needs,
    accounts: { get: (id) => store.accounts.get(id) },
    dialer,
    timezoneOf: (number) => (number.startsWith('81') ? 'Asia/Tokyo' : ''),
  });
  const agent = await campaigns.createAgent(OWNER, anAgent());
  if (!agent.ok) throw new Error('no agent');

  const ready = async (
    over: Partial<CampaignPlan> = {},
    contacts: number | readonly NewContact[] = 3,
  ): Promise<Campaign> => {
    const created = await campaigns.create(OWNER, aPlan({ agentId: agent.value.id, ...over }));
    if (!created.ok) throw new Error(JSON.stringify(created.error));
    const { id } = created.value.campaign;
    const begun = await campaigns.beginUpload(OWNER, id);
    if (!begun.ok) throw new Error('no upload');
    const rows = typeof contacts === 'number' ? contactRows(contacts) : contacts;
    await campaigns.addRows(begun.value, rows);
    await campaigns.finishUpload(begun.value);
    return get({ id });
  };
  const get = async ({ id }: Pick<Campaign, 'id'>): Promise<Campaign> => {
    const campaign = await store.campaigns.get(id);
    if (campaign === undefined) throw new Error('no campaign');
    return campaign;
  };
  return {
    clock,
    store,
    calls,
    reported,
    dialer,
    newDialer,
    campaigns,
    agent: agent.value,
    settings,
    ready,
    get,
    start: ({ id }: Campaign) => campaigns.start(OWNER, id),
    /** Returns `paused:window_closed`, `running` … */
    async state(campaign: Campaign) {
      const { status, pauseReason } = await get(campaign);
      return pauseReason === undefined ? status : `${status}:${pauseReason}`;
    },
    async contacts({ id }: Campaign) {
      const found = await store.campaigns.contacts(id, {}, { limit: 1000, offset: 0 });
      return found.items;
    },
    revoke: () => Promise.all(revokes.map((act) => act(OWNER))),
  };
}
