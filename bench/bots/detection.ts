/** Precision and recall of speech detection: events of a detector against the spans in which the caller spoke. */
import type { Scene } from './scenes.ts';

export interface Detected {
  readonly started: boolean;
  readonly atMs: number;
  readonly agoMs: number;
}

export interface Judged {
  readonly spoken: number;
  readonly found: number;
  readonly falseStarts: number;
  readonly minutes: number;
  /** Time in ms from the begin of speech to its detection, sorted. */
  readonly delaysMs: readonly number[];
}

/** Time in ms around speech in which a start is not false: the detector reports frames of 20 ms, and speech has echoes. */
const EARLY_MS = 40;
const LATE_MS = 250;
/** Longest time in ms by which a detection that still runs may precede a phrase. */
const CONTINUED_MS = 300;

export function judge(scene: Scene, events: readonly Detected[]): Judged {
  const starts = events.filter(({ started }) => started);
  const delaysMs: number[] = [];
  for (const span of scene.spans) {
    const before = events.findLast(({ atMs }) => atMs <= span.startMs);
    const start = starts.find(
      ({ atMs }) => atMs >= span.startMs - EARLY_MS && atMs <= span.endMs + EARLY_MS,
    );
    if (start !== undefined) delaysMs.push(start.atMs - span.startMs);
    // A detector that never stops does not detect the phrase. It may start a little early, with the background.
    else if (before?.started === true && span.startMs - before.atMs <= CONTINUED_MS)
      delaysMs.push(0);
  }
  const falseStarts = starts.filter(
    ({ atMs }) =>
      !scene.spans.some(
        ({ startMs, endMs }) => atMs >= startMs - EARLY_MS && atMs <= endMs + LATE_MS,
      ),
  ).length;
  return {
    spoken: scene.spans.length,
    found: delaysMs.length,
    falseStarts,
    minutes: scene.heard.length / 8000 / 60,
    delaysMs: delaysMs.toSorted((a, b) => a - b),
  };
}

export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
