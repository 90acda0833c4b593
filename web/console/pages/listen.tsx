import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf, Refused, type Row, send, text } from '../api.ts';
import { follow } from '../events.ts';

import { timeOfDay } from '../format.ts';
import { t } from '../text.ts';
import { Problem } from '../ui/parts.tsx';
import { play } from '../wave-player.ts';

interface Props {
  readonly account: string;
  readonly uuid: string;
}

interface Levels {
  readonly said: number;
  readonly heard: number;
}

const QUIET: Levels = { said: -60, heard: -60 };
const KEPT = 200;

/** Level meters of both directions, in dB below full scale. */
const Meters = ({ said, heard }: Levels) => (
  <div class="meters">
    {(
      [
        [t('From the remote party'), said],
        [t('To the remote party'), heard],
      ] as const
    ).map(([name, value]) => (
      <label key={name}>
        {name}
        <meter min={-60} max={0} low={-45} high={-3} value={Math.max(-60, value)}>
          {value} dB
        </meter>
      </label>
    ))}
  </div>
);

/** Plays the call in the browser. The parties do not notice; the audit log records it. */
export function ListenIn({ account, uuid }: Props) {
  const [listens, setListens] = useState(false);
  const [levels, setLevels] = useState(QUIET);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (!listens) return undefined;
    const stop = new AbortController();
    setProblem(undefined);
    const begin = async (): Promise<void> => {
      const reply = await send(`/api/v1/Account/${account}/Call/${uuid}/listen`, {
        method: 'POST',
        signal: stop.signal,
      });
      if (!reply.ok || reply.body === null) {
        throw new Refused(
          reply.status,
          t('Listening in failed ({status}).', { status: reply.status }),
        );
      }
      await play(reply.body, stop.signal, setLevels);
    };
    begin()
      .catch((error: unknown) => !stop.signal.aborted && setProblem(messageOf(error)))
      .finally(() => setListens(false));
    return () => stop.abort();
  }, [listens, account, uuid]);
  return (
    <>
      <button type="button" class="btn" aria-pressed={listens} onClick={() => setListens(!listens)}>
        {listens ? t('Stop listening') : t('Listen in')}
      </button>
      {listens && <Meters {...levels} />}
      <Problem text={problem} />
    </>
  );
}

interface Seen {
  readonly at: string;
  readonly direction: string;
  readonly text: string;
}

/** Shows live messages between the service and the bots of the call. */
export function StreamInspector({ account, uuid }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [levels, setLevels] = useState(QUIET);
  const [seen, setSeen] = useState<readonly Seen[]>([]);
  const [problem, setProblem] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const stop = new AbortController();
    setProblem(undefined);
    follow(`/api/v1/Account/${account}/Call/${uuid}/stream-events`, stop.signal, (told) => {
      const level = told.findLast(({ event }) => event === 'levels')?.data;
      if (level !== undefined) {
        setLevels({ said: Number(level['said_dbfs']), heard: Number(level['heard_dbfs']) });
      }
      const messages = told
        .filter(({ event }) => event === 'message')
        .map(({ data }) => shown(data));
      if (messages.length > 0) setSeen((before) => [...before, ...messages].slice(-KEPT));
    })
      .catch((error: unknown) => !stop.signal.aborted && setProblem(messageOf(error)))
      .finally(() => setOpen(false));
    return () => stop.abort();
  }, [isOpen, account, uuid]);
  useEffect(() => list.current?.scrollTo(0, list.current.scrollHeight), [seen]);
  return (
    <>
      <button type="button" class="btn" aria-pressed={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? t('Close stream inspector') : t('Open stream inspector')}
      </button>
      {isOpen && <Meters {...levels} />}
      <Problem text={problem} />
      {(isOpen || seen.length > 0) && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
        <section class="messages" aria-label={t('Messages of the stream')} tabIndex={0} ref={list}>
          {seen.length === 0 && <p>{t('No messages yet. Audio is not listed.')}</p>}
          {seen.map((one, at) => (
            <pre key={at}>
              {one.at} {one.direction} {one.text}
            </pre>
          ))}
        </section>
      )}
    </>
  );
}

const shown = (told: Row): Seen => ({
  at: timeOfDay(Date.now()),
  direction: told['direction'] === 'toBot' ? '→ bot' : '← bot',
  text:
    Number(told['length']) > text(told['text']).length
      ? `${text(told['text'])} …`
      : text(told['text']),
});
