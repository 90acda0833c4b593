import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { messageOf, Refused, type Row, rows, SIGNED_OUT } from './api.ts';
import { follow } from './events.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  /** HTTP status of the problem; 0 without an answer. */
  readonly status: number | undefined;
  readonly again: () => void;
}

/** Event after which every page loads its data again. */
export const RELOAD = 'console-reload';

/** Whether the session has ended. Pages then load nothing until the user has signed in again. */
let isOut = false;
addEventListener(SIGNED_OUT, () => {
  isOut = true;
});
addEventListener(RELOAD, () => {
  isOut = false;
});

/** Requests of one key at the same time. Further ones wait, so that a slow service does not get more and more of them. */
const LOADS_MAX = 2;

/** Repeats a load. An urgent one does not wait for earlier ones. A later result is not replaced by an earlier one. */
function repeated<T>(load: () => Promise<T>, show: (result: PromiseSettledResult<T>) => void) {
  let [isOver, isDue, started, shown, running] = [false, false, 0, 0, 0];
  const begin = (isUrgent: boolean): void => {
    if (isOut && !isUrgent) return;
    isDue = running >= LOADS_MAX && !isUrgent;
    if (isDue) return;
    started += 1;
    running += 1;
    const own = started;
    void Promise.allSettled([load()]).then(([result]) => {
      running -= 1;
      if (isOver) return;
      if (own > shown) {
        shown = own;
        show(result);
      }
      if (isDue) begin(false);
    });
  };
  const stop = () => {
    isOver = true;
  };
  return { begin, stop };
}

/**
 * Loads data with `load`, and reloads it when `key` changes, `again` is called or the connection returns. Previous data
 * of the same key stays visible during a reload and after an error. An answer is shown although a later request runs:
 * otherwise a page that reloads faster than the service answers would never show data.
 */
export function useLoad<T>(key: string, load: () => Promise<T>, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{
    readonly key?: string;
    readonly value?: T | undefined;
    readonly problem?: string;
    readonly status?: number;
  }>({});
  const latest = useRef(load);
  latest.current = load;
  const begin = useRef((_isUrgent: boolean): void => undefined);
  useEffect(() => {
    const loads = repeated(
      () => latest.current(),
      (result) =>
        setState((before) => {
          if (result.status === 'fulfilled') return { key, value: result.value };
          const { reason } = result;
          return {
            key,
            value: before.key === key ? before.value : undefined,
            problem: messageOf(reason),
            status: reason instanceof Refused ? reason.status : 0,
          };
        }),
    );
    begin.current = loads.begin;
    loads.begin(true);
    return loads.stop;
  }, [key]);
  const again = useCallback(() => begin.current(false), []);
  useEffect(() => {
    const reload = () => begin.current(true);
    addEventListener(RELOAD, reload);
    return () => removeEventListener(RELOAD, reload);
  }, []);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, again]);
  const isOwn = state.key === key;
  return {
    value: isOwn ? state.value : undefined,
    problem: isOwn ? state.problem : undefined,
    status: isOwn ? state.status : undefined,
    again,
  };
}

/** Runs the action of a button or form and keeps its error. */
export function useAction() {
  const [problem, setProblem] = useState<string>();
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const run = useCallback(async (act: () => Promise<unknown>): Promise<boolean> => {
    setProblem(undefined);
    setFields({});
    setBusy(true);
    try {
      await act();
      return true;
    } catch (error) {
      setProblem(messageOf(error));
      setFields(error instanceof Refused ? error.fields : {});
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  return { problem, fields, isBusy, run };
}

/** State of form fields and a setter for each field. */
export function useFields<T extends Readonly<Record<string, string>>>(initial: T) {
  const [fields, setFields] = useState(initial);
  const set = (name: keyof T) => (next: string) =>
    setFields((before) => ({ ...before, [name]: next }));
  return { fields, setFields, set };
}

/** Returns the value after it has not changed for `ms`. */
export function useSettled<T>(value: T, ms = 250): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Returns the fields after none has changed for a while, for requests while the user types. */
export const useSettledFields = <T extends Readonly<Record<string, string>>>(fields: T): T =>
  JSON.parse(useSettled(JSON.stringify(fields))) as T;

export interface Live {
  readonly total: number;
  readonly calls: readonly Row[];
  /** Number of calls that have ended since the page was opened. */
  readonly ended: number;
  readonly state: 'live' | 'away';
}

const AGAIN_MS = 3000;
const listeners = new Set<(live: Live) => void>();
const NONE: Live = { total: 0, calls: [], ended: 0, state: 'away' };
let last = NONE;
let stop: AbortController | undefined;

const tell = (live: Live): void => {
  last = live;
  for (const listener of listeners) listener(live);
};

const followCalls = (signal: AbortSignal): Promise<void> =>
  follow('/console/api/events', signal, (told) => {
    const { total, calls: given } = told.at(-1)?.data ?? {};
    const calls = rows(given);
    const running = new Set(calls.map((one) => one['call_uuid']));
    const gone = last.calls.filter((one) => !running.has(one['call_uuid'])).length;
    tell({ total: Number(total), calls, ended: last.ended + gone, state: 'live' });
  }).catch(() => undefined);

/** Reads the list of active calls for all parts of the page over one connection, and reconnects when it ends. */
async function listen(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!isOut) await followCalls(signal);
    if (signal.aborted) return;
    tell({ ...last, state: 'away' });
    await new Promise((goOn) => setTimeout(goOn, AGAIN_MS));
  }
}

/** Subscribes to the list of active calls. */
export function useLive(): Live {
  const [live, setLive] = useState(last);
  useEffect(() => {
    listeners.add(setLive);
    setLive(last);
    if (stop === undefined) {
      stop = new AbortController();
      void listen(stop.signal);
    }
    return () => {
      listeners.delete(setLive);
      if (listeners.size > 0) return;
      stop?.abort();
      stop = undefined;
      // Another user may sign in.
      last = NONE;
    };
  }, []);
  return live;
}
