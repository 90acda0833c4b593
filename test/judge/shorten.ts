/** Finds the part of a history that a violation needs. */
import type { Observation } from './history.ts';
import { groups, judge, type Violation } from './model.ts';

/** Removes calls, credits and contacts that the violation does not need. Returns the shortest history found. */
export function shorten(
  history: readonly Observation[],
  violation: Violation,
): readonly Observation[] {
  const stillBroken = (shorter: readonly Observation[]): boolean =>
    judge(shorter).some(({ rule, text }) => rule === violation.rule && text === violation.text);
  let shortest = history;
  const subjects = [...groups(history.flatMap(subjectsOf), (one) => one).keys()];
  for (
    let size = Math.ceil(subjects.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < subjects.length; at += size) {
      const removed = new Set(subjects.slice(at, at + size));
      const shorter = shortest.filter((one) => !subjectsOf(one).some((name) => removed.has(name)));
      if (shorter.length < shortest.length && stillBroken(shorter)) shortest = shorter;
    }
  }
  return shortest;
}

function subjectsOf(one: Observation): readonly string[] {
  switch (one.kind) {
    case 'placed':
    case 'answered':
    case 'ended':
      return [one.call];
    case 'record':
      return [one.call];
    case 'callback':
      return [`callback ${one.call}`];
    case 'credit':
      return [one.key];
    case 'request':
      return [one.to];
    case 'recording':
      return [`recording ${one.call}`];
    case 'balance':
      return [`read ${one.toMs}`];
    case 'dialed':
    case 'contact':
      return [one.number];
    case 'fault':
    case 'late':
      return [`${one.kind} ${one.atMs}`];
    default:
      return [];
  }
}
