/** What all clients of a judged run share. */
import type { Answer, Json, Service } from '../e2e/service.ts';
import type { Observation } from './history.ts';

export const MICROS = 1_000_000;

export const micros = (amount: unknown): number => Math.round(Number(amount) * MICROS);

export interface Scene {
  /** Nodes that currently run; a stopped or killed node is missing. */
  readonly running: () => readonly { readonly at: number; readonly service: Service }[];
  /** Node with this SIP port. */
  readonly nodeAt: (sipPort: number) => number | undefined;
  readonly random: () => number;
  readonly observe: (observation: Observation) => void;
  readonly nowMs: () => number;
  /** Planned duration of the run. */
  readonly minutes: number;
}

/** Repeats an action until the end of the run. */
export type Again = (act: () => Promise<void>) => Promise<void>;

export function oneOf({
  running,
  random,
}: Scene): { readonly at: number; readonly service: Service } | undefined {
  const nodes = running();
  return nodes[Math.floor(random() * nodes.length)];
}

/** How a call ended, in equal words for its record and its callback. */
export const endText = (seconds: unknown, billed: unknown, cause: unknown): string =>
  `${seconds} s, ${billed} s billed, cause ${cause}`;

export async function checked(request: Promise<Answer>): Promise<Json> {
  const { status, text, body } = await request;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}
