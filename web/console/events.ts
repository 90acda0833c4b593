/** Reads server-sent events with the console's request header, which EventSource cannot send. */
import { answerOf, type Row, send } from './api.ts';

const DATA = 'data: ';
const EVENT = 'event: ';

/** Time without data after which a stream counts as lost. The service sends a comment every 15 s. */
const QUIET_MS = 45_000;

/**
 * Calls `tell` with each batch of events, oldest first, until the service ends the stream, `signal` aborts it or no data
 * arrives. After a change of the network, the connection can stay open without data.
 */
export async function follow(
  path: string,
  signal: AbortSignal,
  tell: (told: ReadonlyArray<{ readonly event: string; readonly data: Row }>) => void,
): Promise<void> {
  const stop = new AbortController();
  const giveUp = () => stop.abort();
  let timer = setTimeout(giveUp, QUIET_MS);
  const isAlive = () => {
    clearTimeout(timer);
    timer = setTimeout(giveUp, QUIET_MS);
  };
  try {
    const reply = await send(path, { signal: AbortSignal.any([signal, stop.signal]) });
    await read(reply, isAlive, tell);
  } finally {
    clearTimeout(timer);
  }
}

async function read(
  reply: Response,
  isAlive: () => void,
  tell: Parameters<typeof follow>[2],
): Promise<void> {
  // Throws the error of the service, and shows the sign-in form if the session has ended.
  if (!reply.ok || reply.body === null) return void (await answerOf(reply, ''));
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    isAlive();
    const parts = (kept + value).split('\n\n');
    kept = parts.pop() ?? '';
    const told = parts.flatMap((part) => {
      const lines = part.split('\n');
      const of = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length);
      const data = of(DATA);
      return data === undefined ? [] : [{ event: of(EVENT) ?? '', data: JSON.parse(data) as Row }];
    });
    if (told.length > 0) tell(told);
  }
}
