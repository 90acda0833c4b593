/** Do-not-call numbers, and deletion of data of finished campaigns. */
import type { CampaignId } from '../../../base/ids.ts';
import { ok } from '../../../base/result.ts';
import type { CampaignStore } from '../../../domain/campaign/needs.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { Where } from '../where.ts';
import { UnitRefused } from './unit-refused.ts';

export const doNotCallLists = (db: Connection) =>
  ({
    addDoNotCall: (scope, added, addedUs, max) => {
      let fresh = 0;
      for (const number of added)
        fresh += db.changesOne(
          'INSERT INTO do_not_call (scope, number, added_us) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          [scope, number, addedUs],
        )
          ? 1
          : 0;
      const listed = db.get('SELECT COUNT(*) AS n FROM do_not_call WHERE scope = ?', [scope]);
      if (fresh > 0 && integer(listed, 'n') > max) throw new UnitRefused('tooMany');
      return ok(fresh);
    },
    removeDoNotCall: (scope, number) =>
      db.run('DELETE FROM do_not_call WHERE scope = ? AND number = ?', [scope, number]) === 1,
    doNotCall: (scope, search, { limit, offset }) => {
      const { sql, values } = new Where().and('scope = ?', scope).contains(['number'], search);
      const rows = db.all(
        `SELECT number, added_us FROM do_not_call WHERE ${sql} ORDER BY number LIMIT ? OFFSET ?`,
        [...values, limit, offset],
      );
      const items = rows.map((row) => ({
        number: string(row, 'number'),
        addedUs: integer(row, 'added_us'),
      }));
      const count = db.get(`SELECT COUNT(*) AS n FROM do_not_call WHERE ${sql}`, values);
      return { items, total: integer(count, 'n') };
    },
    purgeDoNotCall: (us, limit) =>
      db.run(
        `DELETE FROM do_not_call WHERE (scope, number) IN
          (SELECT scope, number FROM do_not_call WHERE added_us < ? LIMIT ?)`,
        [us, limit],
      ),
  }) satisfies Partial<Synchronously<CampaignStore>>;

const OVER = `status IN ('completed', 'cancelled', 'archived')`;

export const campaignRetention = (db: Connection) =>
  ({
    overBefore: (us, limit) =>
      db
        .all(
          `SELECT id FROM campaign WHERE ${OVER} AND updated_us < ? ORDER BY updated_us LIMIT ?`,
          [us, limit],
        )
        .map((row) => string(row, 'id') as CampaignId),
    erase: (id, limit) => {
      const isOver = db.get(`SELECT 1 AS n FROM campaign WHERE id = ? AND ${OVER}`, [id]);
      if (isOver === undefined) return false;
      if (eraseSome(db, id, limit)) return true;
      db.send('DELETE FROM campaign_number WHERE campaign_id = ?', [id]);
      // Only marks the lists; `clearList` deletes their contacts in batches, like those of replaced lists.
      db.send(`UPDATE campaign_list SET state = 'gone' WHERE campaign_id = ?`, [id]);
      db.send('DELETE FROM campaign WHERE id = ?', [id]);
      return false;
    },
  }) satisfies Partial<Synchronously<CampaignStore>>;

const eraseSome = (db: Connection, id: CampaignId, limit: number): boolean =>
  db.run(
    `DELETE FROM campaign_attempt WHERE seq IN
      (SELECT seq FROM campaign_attempt WHERE campaign_id = ? LIMIT ?)`,
    [id, limit],
  ) > 0;
