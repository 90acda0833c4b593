import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Row, rows } from './api.ts';
import { follow } from './events.ts';

/** Returns the path after `#` as parts: `#/calls/abc?x=1` is `['calls', 'abc']`. */
export function usePlace(): readonly string[] {
  const read = () =>
    location.hash
      .replace(/^#\/?/, '')
      .split('?')[0]
      ?.split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent) ?? [];
  const [place, setPlace] = useState(read);
  useEffect(() => {
    const moved = () => setPlace(read());
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return place;
}

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  readonly again: () => void;
}

/** Loads data with `load`, and reloads it when `key` changes or `again` is called. */
export function useLoad<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value?: T; problem?: string }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && setState({ value }),
      (error: unknown) => isCurrent && setState({ problem: messageOf(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, round]);
  const again = useCallback(() => setRound((count) => count + 1), []);
  return { value: state.value, problem: state.problem, again };
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Runs the action of a button or form and keeps its error. */
export function useAction(): {
  readonly problem: string | undefined;
  readonly run: (act: () => Promise<unknown>) => Promise<void>;
} {
  const [problem, setProblem] = useState<string>();
  const run = useCallback(async (act: () => Promise<unknown>) => {
    setProblem(undefined);
    await act().catch((error: unknown) => setProblem(messageOf(error)));
  }, []);
  return { problem, run };
}

/** State of form fields and a setter for each field. */
export function useFields<T extends Readonly<Record<string, string>>>(initial: T) {
  const [fields, setFields] = useState(initial);
  const set = (name: keyof T) => (next: string) => setFields({ ...fields, [name]: next });
  return { fields, setFields, set };
}

export interface Live {
  readonly total: number;
  readonly calls: readonly Row[];
  readonly state: 'live' | 'away';
}

const AGAIN_MS = 3000;

/** Subscribes to the list of active calls. Reconnects when the connection ends. */
export function useLive(): Live {
  const [live, setLive] = useState<Live>({ total: 0, calls: [], state: 'away' });
  useEffect(() => {
    const stop = new AbortController();
    const listen = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await follow('/console/api/events', stop.signal, (told) => {
          const { total, calls } = told.at(-1)?.data ?? {};
          setLive({ total: Number(total), calls: rows(calls), state: 'live' });
        }).catch(() => undefined);
        if (stop.signal.aborted) return;
        setLive((before) => ({ ...before, state: 'away' }));
        await new Promise((go) => setTimeout(go, AGAIN_MS));
      }
    };
    void listen();
    return () => stop.abort();
  }, []);
  return live;
}
