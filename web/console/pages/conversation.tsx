import { part, type Row, rows, text } from '../api.ts';
import { t } from '../text.ts';
import { Card, Tiles } from '../ui/parts.tsx';

const SPEAKERS: Readonly<Record<string, string>> = { caller: t('Caller'), bot: t('Bot') };

interface Line {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly isSpoken: boolean;
}

/** Returns the line of a timeline entry, or undefined if it does not belong to the conversation. */
function lineOf(entry: Row, startMs: number): Line | undefined {
  const facts = part(entry['facts']);
  const event = text(entry['text']);
  const at = (Date.parse(text(entry['at'])) - startMs) / 1000;
  const line = (who: string, what: string, isSpoken = false): Line => ({ at, who, what, isSpoken });
  if (entry['kind'] !== 'stream') return undefined;
  if (event === 'transcript')
    return line(SPEAKERS[text(facts['speaker'])] ?? t('Bot'), text(facts['text']), true);
  if (event === 'agent') return line(t('Agent'), text(facts['text']));
  if (event === 'turn')
    return line(t('Turn'), t('The bot answered after {ms} ms', { ms: text(facts['latencyMs']) }));
  if (event === 'caller interrupted the bot')
    return line(
      t('Turn'),
      t('The caller interrupted the bot after {ms} ms', { ms: text(facts['playedMs']) }),
    );
  if (event === 'disclosure played') return line(t('Service'), text(facts['text']), true);
  if (!event.startsWith('transfer ')) return undefined;
  const detail = text(facts['detail']) || text(facts['to']);
  return line(t('Service'), detail === '' ? event : `${event}: ${detail}`);
}

interface Props {
  readonly entries: readonly Row[];
  /** Call record; absent while the call is running. */
  readonly cdr: Row | null | undefined;
}

/** What a bot and the caller said, with latency, interruptions, tools and transfers. Nothing for calls without a bot. */
export function Conversation({ entries, cdr }: Props) {
  const startMs = Date.parse(text(entries[0]?.['at']));
  const lines = entries.flatMap((entry) => lineOf(entry, startMs) ?? []);
  if (lines.length === 0) return null;
  const turns = rows(cdr?.['stream_cdrs'])
    .map((stream) => part(stream['turns']))
    .find(({ count }) => Number(count) > 0);
  return (
    <Card title={t('Conversation')}>
      {turns && (
        <Tiles
          of={[
            { name: t('Turns'), value: text(turns['count']) },
            { name: t('Median latency, ms'), value: text(turns['p50_ms']) },
            { name: t('Latency, 95th percentile, ms'), value: text(turns['p95_ms']) },
            { name: t('Interruptions'), value: text(turns['interruptions']) },
          ]}
        />
      )}
      <div>
        {lines.map(({ at, who, what, isSpoken }, index) => (
          <div key={index} class="entry said">
            <span class="at">{at.toFixed(1)} s</span>
            <span class="kind">{who}</span>
            <span class={isSpoken ? 'what' : 'what muted'} dir="auto">
              {what}
            </span>
          </div>
        ))}
      </div>
      {!lines.some(({ isSpoken }) => isSpoken) && (
        <p class="small muted">
          {t('No transcript: the bot can write it with the stream message “note”.')}
        </p>
      )}
    </Card>
  );
}
