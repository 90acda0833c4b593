/** Handles uploads of contact lists. A list becomes visible only when it is complete. */
import type { AccountId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { NumberReader } from '../dispatch/dispatch.ts';
import type { ListedContact } from './needs.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type {
  BadRow,
  Campaign,
  CampaignRefusal,
  CampaignStatus,
  NewContact,
  Upload,
  UploadRow,
  UploadSummary,
} from './types.ts';

const MAX_ROWS_AT_ONCE = 1000;
/** Number of rows per transaction. Short enough that no call is delayed. */
const ROWS_OF_UNIT = 200;
const MAX_CONTACTS = 5_000_000;
const MAX_UPLOADS = 100;
const MAX_UPLOADS_OF_ACCOUNT = 4;

interface Open {
  readonly campaign: Campaign;
  readonly numbers: NumberReader;
  rows: number;
}

export class Uploads {
  readonly #needs: CampaignServiceNeeds;
  /** Open uploads by list ID. */
  readonly #open = new Map<number, Open>();
  /** Accounts of uploads that are being opened. */
  readonly #opening: AccountId[] = [];

  constructor(needs: CampaignServiceNeeds) {
    this.#needs = needs;
  }

  async begin(campaign: Campaign): Promise<Result<Upload, CampaignRefusal>> {
    const { accountId } = campaign;
    const all = [...this.#open.values()].map((open) => open.campaign.accountId);
    all.push(...this.#opening);
    if (all.length >= MAX_UPLOADS) {
      return err({ kind: 'tooMany', what: 'concurrent uploads', limit: MAX_UPLOADS });
    }
    if (all.filter((id) => id === accountId).length >= MAX_UPLOADS_OF_ACCOUNT) {
      return err({
        kind: 'tooMany',
        what: 'concurrent uploads of an account',
        limit: MAX_UPLOADS_OF_ACCOUNT,
      });
    }
    this.#opening.push(accountId);
    try {
      return ok(await this.#begin(campaign));
    } finally {
      this.#opening.splice(this.#opening.indexOf(accountId), 1);
    }
  }

  async #begin(campaign: Campaign): Promise<Upload> {
    const { store, accounts } = this.#needs;
    const account = await accounts.get(campaign.subAccount ?? campaign.accountId);
    const listId = await store.beginList(campaign.id);
    this.#open.set(listId, {
      campaign,
      numbers: new NumberReader(account?.country ?? ''),
      rows: 0,
    });
    return { campaignId: campaign.id, listId };
  }

  async add(upload: Upload, rows: readonly UploadRow[]): Promise<Result<void, CampaignRefusal>> {
    const open = this.#open.get(upload.listId);
    if (open === undefined) return err({ kind: 'unknownCampaign' });
    if (rows.length > MAX_ROWS_AT_ONCE) {
      return err({ kind: 'tooMany', what: 'rows per request', limit: MAX_ROWS_AT_ONCE });
    }
    open.rows += rows.length;
    if (open.rows > MAX_CONTACTS) {
      return err({ kind: 'tooMany', what: 'rows in a list', limit: MAX_CONTACTS });
    }
    for (let first = 0; first < rows.length; first += ROWS_OF_UNIT) {
      const isTaken = await this.#addUnit(upload, open, rows.slice(first, first + ROWS_OF_UNIT));
      if (!isTaken) return err({ kind: 'unknownCampaign' });
    }
    return ok(undefined);
  }

  #addUnit({ listId }: Upload, open: Open, rows: readonly UploadRow[]): Promise<boolean> {
    const contacts: ListedContact[] = [];
    const bad: BadRow[] = [];
    for (const row of rows) {
      const read = 'reason' in row ? row : readContact(row, open, this.#needs.timezoneOf);
      if ('reason' in read) bad.push(read);
      else contacts.push(read);
    }
    return this.#needs.store.addRows(listId, contacts, bad);
  }

  /** Completes an upload. Returns undefined, and deletes the rows, if the campaign's status no longer allows uploads. */
  async finish(
    upload: Upload,
    from: readonly CampaignStatus[],
  ): Promise<{ readonly campaign: Campaign; readonly summary: UploadSummary } | undefined> {
    const { store } = this.#needs;
    const { campaignId, listId } = upload;
    const finished = await store.finishList(campaignId, listId, from);
    if (finished === undefined) {
      await this.abandon(upload);
      return undefined;
    }
    this.#open.delete(listId);
    await this.clearStray();
    const { campaign, contacts, bad } = finished;
    const summary = { validContacts: contacts, invalidRows: bad, totalRows: contacts + bad };
    return { campaign, summary };
  }

  async abandon({ listId }: Upload): Promise<void> {
    this.#open.delete(listId);
    await this.#clear(listId);
  }

  /** Deletes lists that an earlier process left unfinished, and lists that were replaced. */
  async clearStray(): Promise<void> {
    for (const listId of await this.#needs.store.strayLists()) {
      if (!this.#open.has(listId)) await this.#clear(listId);
    }
  }

  async #clear(listId: number): Promise<void> {
    while (await this.#needs.store.clearList(listId, ROWS_OF_UNIT));
  }
}

/** Returns the contact with its numbers in international format, or the reason to refuse the row. */
function readContact(
  row: NewContact,
  { campaign, numbers }: Open,
  timezoneOf: (e164: string) => string,
): ListedContact | BadRow {
  const { rowNumber } = row;
  const to = numbers.read(row.to);
  if (!to.ok) return { rowNumber, reason: `to "${row.to}" ${to.error}` };
  if (campaign.callerIdStrategy === 'per_contact' && row.from === undefined) {
    return {
      rowNumber,
      reason: "from is empty: the caller ids of the campaign are its contacts' own",
    };
  }
  const from = row.from === undefined ? undefined : numbers.read(row.from);
  if (from?.ok === false) return { rowNumber, reason: `from "${row.from}" ${from.error}` };
  const timezone = campaign.contactTimezone === 'number' ? timezoneOf(to.value) : '';
  return { ...row, to: to.value, from: from?.value, timezone };
}
