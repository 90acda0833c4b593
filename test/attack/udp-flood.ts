/** Floods of datagrams from a separate process, so that sending does not delay legitimate phones. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Field, Figure } from './scenario.ts';

export type DatagramKind =
  | 'invite'
  | 'register'
  | 'guess'
  | 'garbage'
  | 'oversized'
  | 'tiny'
  | 'rtp'
  | 'broken-rtp'
  | 'broken-rtcp';

export interface FloodOrder {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Source addresses in 127.0.0.0/8. */
  readonly sources: readonly string[];
  readonly kinds: readonly DatagramKind[];
  /** Username for `guess`. */
  readonly username: string;
}

export interface FloodReport {
  readonly sent: number;
  readonly sentBytes: number;
  readonly answers: number;
  readonly answerBytes: number;
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const SENDER = fileURLToPath(new URL('./udp-sender.ts', import.meta.url));
/** Time limit for the last responses, ms. */
const GRACE_MS = 20_000;

export function flood(order: FloodOrder): Promise<FloodReport> {
  const child = fork(SENDER, { timeout: order.seconds * 1000 + GRACE_MS });
  child.send(order);
  return new Promise((resolve, reject) => {
    child.once('message', (report) => resolve(report as FloodReport));
    child.once('exit', (code, signal) => reject(new Error(`the sender ended: ${signal ?? code}`)));
  });
}

/** Returns loopback addresses other than 127.0.0.1. */
export const manySources = (count: number): readonly string[] =>
  Array.from(
    { length: count },
    (_, i) => `127.${1 + (i >> 14)}.${(i >> 7) & 127}.${1 + (i & 127)}`,
  );

export const orderFor = (
  { service, username, seconds }: Field,
  order: Pick<FloodOrder, 'perSecond' | 'sources' | 'kinds'> & Partial<FloodOrder>,
): FloodOrder => ({ port: service.sipPort, seconds, username, ...order });

export const figuresOf = (report: FloodReport, seconds: number): readonly Figure[] => [
  { name: 'datagrams a second', value: report.sent / seconds, unit: '/s' },
  { name: 'answers per datagram', value: report.answers / report.sent, unit: '', atMost: 1 },
  {
    name: 'answer bytes per unauthenticated byte',
    value: report.answerBytes / report.sentBytes,
    unit: '',
    atMost: 1.5,
  },
  ...Object.entries(report.statuses).map(([status, count]) => ({
    name: `answers ${status}`,
    value: count,
    unit: '',
  })),
];
