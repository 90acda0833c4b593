import type { AccountId, AgentId, CampaignId } from '../../../base/ids.ts';
import { err, ok } from '../../../base/result.ts';
import type { CampaignStore } from '../../../domain/campaign/needs.ts';
import type {
  Agent,
  Campaign,
  CampaignOwner,
  ContactCounters,
  PoolNumber,
} from '../../../domain/campaign/types.ts';
import { type Connection, integer, type Row } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import {
  int,
  optional,
  optionalInt,
  optionalText,
  seconds,
  stored,
  Table,
  text,
} from '../table.ts';
import { Where } from '../where.ts';
import { dialling } from './campaign-dialling.ts';
import { campaignErasure } from './campaign-erasure.ts';
import { contactLists } from './campaign-lists.ts';
import { campaignRetention, doNotCallLists } from './campaign-retention.ts';
import { notificationTable } from './notifications.ts';
import { TARGET } from './stored-callback.ts';
import {
  ABANDONMENT,
  DIAL_WINDOW,
  HEADERS,
  MACHINE_DETECTION,
  poolColumn,
  recordingColumn,
  retryColumn,
} from './stored-campaign.ts';
import { UnitRefused } from './unit-refused.ts';

const agentTable = new Table<Agent>('campaign_agent', {
  id: text<AgentId>,
  accountId: text<AccountId>,
  subAccount: optionalText<AccountId>,
  name: text,
  answer: withCredentials(stored('answer', TARGET)),
  hangup: withCredentials(optional(stored('hangup', TARGET))),
  fallback: withCredentials(optional(stored('fallback', TARGET))),
  ring: withCredentials(optional(stored('ring', TARGET))),
  sipHeaders: stored('sip_headers', HEADERS),
  machineDetection: withCredentials(optional(stored('machine_detection', MACHINE_DETECTION))),
  record: withCredentials(optional(recordingColumn('record'))),
  timeLimitMs: seconds('time_limit_s'),
  ringTimeoutMs: optional(seconds('ring_timeout_s')),
  createdUs: int,
  updatedUs: int,
});

/** A campaign with its counters as columns. */
type CampaignRow = Omit<Campaign, 'counters'> & ContactCounters;

const campaignTable = new Table<CampaignRow>('campaign', {
  id: text<CampaignId>,
  accountId: text<AccountId>,
  subAccount: optionalText<AccountId>,
  name: text,
  agentId: text<AgentId>,
  maxConcurrent: int,
  cps: int('calls_per_second'),
  timezone: text,
  contactTimezone: text,
  window: optional(stored('dial_window', DIAL_WINDOW)),
  scheduledUs: optionalInt,
  expiresUs: optionalInt,
  retry: retryColumn('retry'),
  callerIdStrategy: text,
  fixedCallerId: optionalText,
  pool: poolColumn('pool'),
  abandonment: optional(stored('abandonment', ABANDONMENT)),
  notifyUrl: withCredentials(optional(text('notify_url'))),
  status: text,
  pauseReason: optionalText,
  consecutiveFailures: int,
  queuedUs: optionalInt,
  startedUs: optionalInt,
  completedUs: optionalInt,
  lastDialUs: optionalInt,
  pending: int,
  dialling: int,
  answered: int,
  no_answer: int,
  busy: int,
  failed: int,
  retry_pending: int,
  expired: int,
  createdUs: int,
  updatedUs: int,
});

const numberTable = new Table<PoolNumber & { readonly campaignId: CampaignId }>('campaign_number', {
  id: text,
  campaignId: text<CampaignId>,
  number: text,
  label: text,
  totalCalls: int,
  day: text,
  callsOfDay: int,
  lastUsedUs: optionalInt,
});

function withCounters(row: CampaignRow): Campaign {
  const { pending, dialling: calls, answered, no_answer, busy, failed, ...rest } = row;
  const { retry_pending, expired, ...campaign } = rest;
  const counters = {
    pending,
    dialling: calls,
    answered,
    no_answer,
    busy,
    failed,
    retry_pending,
    expired,
  };
  return { ...campaign, counters };
}

const readCampaign = (db: Connection, row: Row): Campaign =>
  withCounters(campaignTable.read(db, row));

/** Returns the campaign, or undefined if it does not exist. */
function getCampaign(db: Connection, id: CampaignId): Campaign | undefined {
  const row = db.get('SELECT * FROM campaign WHERE id = ?', [id]);
  return row && readCampaign(db, row);
}

const ownedBy = ({ accountId, subAccount }: CampaignOwner): Where =>
  new Where().and('account_id = ?', accountId).and('sub_account = ?', subAccount);

export const campaignRepository = (db: Connection): Synchronously<CampaignStore> => ({
  ...agents(db),
  ...campaigns(db),
  ...numbers(db),
  ...doNotCallLists(db),
  ...campaignRetention(db),
  ...campaignErasure(db),
  ...contactLists(db, (id) => getCampaign(db, id)),
  ...dialling(db, (id) => getCampaign(db, id)),
});

const agents = (db: Connection) =>
  ({
    insertAgent: (agent: Agent): void => agentTable.insert(db, agent),
    agent: (id: AgentId) => agentTable.get(db, 'id = ?', [id]),
    agents: (owner, { limit, offset }) => {
      const where = ownedBy(owner);
      const rest = `WHERE ${where.sql} ORDER BY seq DESC LIMIT ? OFFSET ?`;
      const items = agentTable.all(db, rest, [...where.values, limit, offset]);
      return { items, total: countOf(db, 'campaign_agent', where) };
    },
    patchAgent: (id, patch) => agentTable.patch(db, patch, 'id = @id', { id }),
    removeAgent: (id) => {
      const used = db.get(
        `SELECT 1 AS used FROM campaign
        WHERE agent_id = ? AND status NOT IN ('completed', 'cancelled', 'archived') LIMIT 1`,
        [id],
      );
      if (used !== undefined) return err('agentInUse');
      db.send('DELETE FROM campaign_agent WHERE id = ?', [id]);
      return ok(undefined);
    },
  }) satisfies Partial<Synchronously<CampaignStore>>;

const campaigns = (db: Connection) =>
  ({
    insert: ({ counters, ...campaign }: Campaign): void =>
      campaignTable.insert(db, { ...campaign, ...counters }),
    get: (id: CampaignId) => getCampaign(db, id),
    current: (id: CampaignId) => getCampaign(db, id),
    page: (filter, { limit, offset }) => {
      const where = ownedBy(filter).also(`(status = 'archived') = ?`, [filter.archived ? 1 : 0]);
      const rows = db.all(
        `SELECT * FROM campaign WHERE ${where.sql} ORDER BY seq DESC LIMIT ? OFFSET ?`,
        [...where.values, limit, offset],
      );
      const items = db.readable(rows, (row) => readCampaign(db, row));
      return { items, total: countOf(db, 'campaign', where) };
    },
    unfinished: () =>
      db.readable(
        db.all(
          `SELECT * FROM campaign WHERE status IN ('ready', 'queued', 'running', 'paused')
          AND (status <> 'ready' OR scheduled_us IS NOT NULL) ORDER BY seq`,
        ),
        (row) => readCampaign(db, row),
      ),
    change: (id, from, change, notifications = []) => {
      const changed = campaignTable.patch(
        db,
        change,
        `id = @id AND status IN (${from.map((_, at) => `@from${at}`).join(', ')})`,
        { id, ...Object.fromEntries(from.map((status, at) => [`from${at}`, status])) },
      );
      if (changed === undefined) return undefined;
      for (const notification of notifications) notificationTable.insertNew(db, notification);
      return withCounters(changed);
    },
  }) satisfies Partial<Synchronously<CampaignStore>>;

const numbers = (db: Connection) =>
  ({
    addNumbers: (campaignId, added, max) => {
      for (const number of added) numberTable.insertNew(db, { ...number, campaignId });
      const pool = new Where().and('campaign_id = ?', campaignId);
      if (countOf(db, numberTable.name, pool) > max) throw new UnitRefused('tooMany');
      return ok(undefined);
    },
    numbers: (id: CampaignId): readonly PoolNumber[] =>
      numberTable
        .all(db, 'WHERE campaign_id = ? ORDER BY seq', [id])
        .map(({ campaignId: _, ...number }) => number),
    updateNumber: (campaignId, { id, ...number }) => {
      const of = { id, campaignId };
      const other = db.get(
        'SELECT 1 AS n FROM campaign_number WHERE campaign_id = ? AND number = ? AND id <> ?',
        [campaignId, number.number, id],
      );
      if (other !== undefined) return err('numberExists');
      const where = 'id = @id AND campaign_id = @campaignId';
      const changed = numberTable.patch(db, number, where, of);
      return changed === undefined ? err('unknownNumber') : ok(undefined);
    },
    removeNumber: (id, numberId) =>
      db.run('DELETE FROM campaign_number WHERE campaign_id = ? AND id = ?', [id, numberId]) === 1,
  }) satisfies Partial<Synchronously<CampaignStore>>;

const countOf = (db: Connection, table: string, where: Where): number =>
  integer(db.get(`SELECT COUNT(*) AS n FROM ${table} WHERE ${where.sql}`, where.values), 'n');
