import type { AlarmStore } from '../../../domain/alarm/needs.ts';
import type { AlarmRecord } from '../../../domain/alarm/types.ts';
import type { Connection } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { int, optionalInt, optionalText, Table, text } from '../table.ts';
import { page, Where } from '../where.ts';
import { LIVE_NODES } from './nodes.ts';

const table = new Table<AlarmRecord>('alarm', {
  nodeId: text,
  kind: text,
  subject: text,
  sinceUs: int,
  detail: text,
  clearedUs: optionalInt,
  acknowledgedUs: optionalInt,
  acknowledgedBy: optionalText,
});

/** Maximum number of active alarms that are listed. A node has at most 500. */
const ACTIVE_MAX = 5000;

const COMPLETE = `UPDATE alarm SET detail = ?, cleared_us = COALESCE(cleared_us, ?),
    acknowledged_us = COALESCE(acknowledged_us, ?), acknowledged_by = COALESCE(acknowledged_by, ?)
  WHERE node_id = ? AND kind = ? AND subject = ? AND since_us = ?`;

export const alarmRepository = (db: Connection): Synchronously<AlarmStore> => ({
  put: (alarms) => {
    for (const alarm of alarms) {
      const { nodeId, kind, subject, sinceUs, detail } = alarm;
      const { clearedUs = null, acknowledgedUs = null, acknowledgedBy = null } = alarm;
      const known = db.run(COMPLETE, [
        ...[detail, clearedUs, acknowledgedUs, acknowledgedBy],
        ...[nodeId, kind, subject, sinceUs],
      ]);
      if (known === 0) table.insert(db, alarm);
    }
  },
  active: () =>
    table.all(
      db,
      `WHERE cleared_us IS NULL AND node_id IN (${LIVE_NODES})
        ORDER BY since_us, node_id, kind, subject LIMIT ${ACTIVE_MAX}`,
      [],
    ),
  ended: ({ kind, search }, slice) => {
    const where = new Where()
      .also('cleared_us IS NOT NULL')
      .and('kind = ?', kind)
      .contains(['subject', 'detail'], search);
    return page(db, table, where, 'cleared_us DESC, node_id, kind, subject', slice);
  },
  purge: (beforeUs, most) => {
    db.send('DELETE FROM alarm WHERE since_us < ?', [beforeUs]);
    db.send(
      `DELETE FROM alarm WHERE since_us <=
        (SELECT since_us FROM alarm ORDER BY since_us DESC LIMIT 1 OFFSET ?)`,
      [most],
    );
  },
});
