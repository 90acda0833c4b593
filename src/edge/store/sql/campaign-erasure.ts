/** Contacts and attempts of one number in all campaigns: search and erasure. */
import type { AccountId, CampaignId } from '../../../base/ids.ts';
import type { CampaignStore } from '../../../domain/campaign/needs.ts';
import { ERASED } from '../../../domain/cdr/types.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { move } from './campaign-dialling.ts';
import { readContact } from './campaign-lists.ts';
import { HEADERS } from './stored-campaign.ts';

// CROSS JOIN forces the lists as the outer loop: the index of contacts begins with the list.
const CONTACTS = `FROM campaign_list l CROSS JOIN campaign_contact c
  WHERE c.list = l.number AND c.to_number = ?`;

export const campaignErasure = (db: Connection) =>
  ({
    contactsOf: (number, after, limit) => {
      const rows = db.all(
        `SELECT c.*, l.campaign_id, (SELECT account_id FROM campaign WHERE id = l.campaign_id) AS owner
          ${CONTACTS} AND c.id > ? ORDER BY c.id LIMIT ?`,
        [number, after, limit],
      );
      return db.readable(rows, (row) => ({
        accountId: String(row['owner'] ?? '') as AccountId,
        campaignId: string(row, 'campaign_id') as CampaignId,
        contact: readContact(db, row),
      }));
    },
    eraseContacts: (number, limit) => {
      const rows = db.all(`SELECT c.*, l.campaign_id, l.state ${CONTACTS} LIMIT ?`, [
        number,
        limit,
      ]);
      for (const row of rows) {
        const id = integer(row, 'id');
        const waits = ['pending', 'retry_pending'].includes(string(row, 'status'));
        // Only the contacts of the current list count in the campaign.
        if (waits && string(row, 'state') === 'current') {
          const to = { status: 'failed', reason: 'do_not_call', dueUs: undefined } as const;
          move(db, string(row, 'campaign_id') as CampaignId, row, to);
        }
        db.send(
          `UPDATE campaign_contact SET to_number = ?, headers = ?, answer_url = NULL,
              hangup_url = NULL, due_us = NULL WHERE id = ?`,
          [`${ERASED}-${id}`, HEADERS.write([]), id],
        );
      }
      db.send(
        `UPDATE campaign_attempt SET to_number = ? WHERE seq IN
          (SELECT t.seq FROM account a CROSS JOIN campaign_attempt t
            WHERE t.account_id = a.auth_id AND t.to_number = ?)`,
        [ERASED, number],
      );
      return rows.length;
    },
  }) satisfies Partial<Synchronously<CampaignStore>>;
