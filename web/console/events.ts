/** Reads server-sent events with the console's request header, which EventSource cannot send. */
import { Refused, type Row, send } from './api.ts';

const DATA = 'data: ';
const EVENT = 'event: ';

/** Calls `tell` with each batch of events, oldest first, until the service ends the stream or `signal` aborts it. */
export async function follow(
  path: string,
  signal: AbortSignal,
  tell: (told: ReadonlyArray<{ readonly event: string; readonly data: Row }>) => void,
): Promise<void> {
  const reply = await send(path, { signal });
  if (!reply.ok || reply.body === null) throw new Refused(reply.status, `HTTP ${reply.status}`);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
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
