import type { NodeStore } from '../../../domain/cluster/needs.ts';
import type { NodeRecord } from '../../../domain/cluster/types.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import type { Row } from '../row.ts';

/** Heartbeat count of a dead node. */
const DEAD = -1;
const END = `UPDATE node SET epoch = epoch + 1, beats = ${DEAD}`;

/** SQL query of the IDs of live nodes. */
export const LIVE_NODES = `SELECT node_id FROM node WHERE beats <> ${DEAD}`;

/** SQL condition that selects orphaned rows: those of an earlier epoch of their node. */
export const ORPHANED = '(node_id, epoch) NOT IN (SELECT node_id, epoch FROM node)';

/**
 * SQL condition for orphaned rows whose data is on a node's local disk, which only that node can adopt. Its parameter is the
 * node ID.
 */
export const LEFT_BY_OWN_NODE = `${ORPHANED} AND node_id IN ('', ?)`;

export const nodeRepository = (db: Connection): Synchronously<NodeStore> => ({
  begin: (nodeId, alone) => {
    if (alone) db.send(`${END} WHERE beats <> ${DEAD} AND node_id <> ?`, [nodeId]);
    const row = db.get(
      `INSERT INTO node (node_id, epoch, beats, begun_us) VALUES (@id, 1, 0, @now)
        ON CONFLICT (node_id) DO UPDATE SET epoch = node.epoch + 1, beats = 0, begun_us = @now
        RETURNING epoch`,
      { id: nodeId, now: db.nowUs },
    );
    return integer(row, 'epoch');
  },
  beat: ({ id, epoch }, hears) =>
    db.run('UPDATE node SET beats = beats + 1, hears = ? WHERE node_id = ? AND epoch = ?', [
      hears ? 1 : 0,
      id,
      epoch,
    ]) === 1,
  list: () => db.all(`SELECT * FROM node WHERE beats <> ${DEAD} ORDER BY node_id`).map(readNode),
  fence: ({ id, epoch, beats }) =>
    db.run(`${END} WHERE node_id = ? AND epoch = ? AND beats = ?`, [id, epoch, beats]) === 1,
  leave: ({ id, epoch }) => {
    db.send(`${END} WHERE node_id = ? AND epoch = ?`, [id, epoch]);
  },
  claim: (job) => {
    const { id, epoch } = db.node;
    if (!isCurrent(db)) return false; // another node has declared this one dead
    db.send(
      `INSERT INTO job_lease (job, node_id, epoch) VALUES (?, ?, ?)
        ON CONFLICT (job) DO UPDATE SET node_id = excluded.node_id, epoch = excluded.epoch
          WHERE (job_lease.node_id, job_lease.epoch) NOT IN (SELECT node_id, epoch FROM node)`,
      [job, id, epoch],
    );
    const held = db.get('SELECT node_id, epoch FROM job_lease WHERE job = ?', [job]);
    return held !== undefined && string(held, 'node_id') === id && integer(held, 'epoch') === epoch;
  },
  release: (job) => {
    const { id, epoch } = db.node;
    db.send('DELETE FROM job_lease WHERE job = ? AND node_id = ? AND epoch = ?', [job, id, epoch]);
  },
  holder: (job) => {
    const row = db.get(`SELECT node_id, epoch FROM job_lease WHERE job = ? AND NOT (${ORPHANED})`, [
      job,
    ]);
    return row && { id: string(row, 'node_id'), epoch: integer(row, 'epoch') };
  },
});

/** Returns whether the node of the unit of work is in its epoch. A unit without a node is. */
const isCurrent = (db: Connection): boolean =>
  db.node.id === '' ||
  db.get('SELECT 1 AS found FROM node WHERE node_id = ? AND epoch = ?', [
    db.node.id,
    db.node.epoch,
  ]) !== undefined;

const readNode = (row: Row): NodeRecord => ({
  id: string(row, 'node_id'),
  epoch: integer(row, 'epoch'),
  beats: integer(row, 'beats'),
  begunUs: integer(row, 'begun_us'),
  hears: integer(row, 'hears') === 1,
});
