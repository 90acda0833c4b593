import { useEffect, useState } from 'preact/hooks';
import { get, type Row, rows, text } from '../api.ts';
import { preciseTime, words } from '../format.ts';
import { useLoad, useSettledFields } from '../hooks.ts';
import { href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Check, Input, optionsOf, Select, saveAs } from '../ui/form.tsx';
import { Badge, Empty, Head, LoadProblem, Skeleton, type Tone } from '../ui/parts.tsx';

const EVERY_MS = 2000;
const LINES_MAX = 1000;
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;
const TONES: Readonly<Record<string, Tone>> = { error: 'bad', warn: 'fair', info: 'info' };

const EMPTY = { node: '', level: 'info', call: '', search: '' };

/** Log lines that match the filters. `isFollowing`: loads them again periodically. */
function useLines(filters: Readonly<typeof EMPTY>, isFollowing: boolean) {
  const asked = useSettledFields(filters);
  const callUuid = asked.call.trim();
  const isCallWrong = callUuid !== '' && !UUID.test(callUuid);
  const query = new URLSearchParams({ level: asked.level, limit: String(LINES_MAX) });
  if (asked.node !== '') query.set('node', asked.node);
  if (callUuid !== '' && !isCallWrong) query.set('call_uuid', callUuid);
  if (asked.search.trim() !== '') query.set('search', asked.search.trim());
  const found = useLoad(
    `${query}`,
    () => get(`/admin/v1/log?${query}`),
    isFollowing ? EVERY_MS : undefined,
  );
  return { isCallWrong, found, lines: found.value && rows(found.value['lines']) };
}

/** Latest log lines of a node. */
export function Log() {
  const { fields, set } = useQuery(EMPTY);
  const [isFollowing, setFollowing] = useState(true);
  const { isCallWrong, found, lines } = useLines(fields, isFollowing);
  return (
    <>
      <Head
        title={t('Log')}
        about={t(
          'Latest log lines of a node, with secrets masked. The node keeps up to 5,000 in memory.',
        )}
      >
        <Check label={t('Follow')} isOn={isFollowing} set={setFollowing} />
        <button
          type="button"
          class="btn"
          disabled={lines === undefined || lines.length === 0}
          onClick={() => saveAs(new Blob([(lines ?? []).map(asText).join('\n')]), 'carillon.log')}
        >
          {t('Download')}
        </button>
      </Head>
      <Filters fields={fields} set={set} isCallWrong={isCallWrong} />
      <LoadProblem of={found} />
      {lines === undefined ? (
        found.problem === undefined && <Skeleton lines={8} />
      ) : lines.length === 0 ? (
        <Empty title={t('No log line matches.')}>
          <p>
            {t(
              'Select a lower level or remove a filter. The setting logLevel determines what the service logs.',
            )}
          </p>
        </Empty>
      ) : (
        <Lines lines={lines} isFollowing={isFollowing} />
      )}
      {lines && (
        <p class="small muted">
          {t('{n} lines of node {node}', { n: lines.length, node: text(found.value?.['node']) })}
        </p>
      )}
    </>
  );
}

interface FiltersProps {
  readonly fields: Readonly<typeof EMPTY>;
  readonly set: (name: keyof typeof EMPTY) => (value: string) => void;
  /** Whether the call UUID is incomplete. */
  readonly isCallWrong: boolean;
}

function Filters({ fields, set, isCallWrong }: FiltersProps) {
  const nodes = useLoad('nodes', () => get('/admin/v1/nodes'));
  const known = rows(nodes.value?.['nodes']).map((row) => text(row['node']));
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {known.length > 1 && (
        <Select
          label={t('Node')}
          value={fields.node}
          set={set('node')}
          options={[['', t('This node')], ...optionsOf(known)]}
        />
      )}
      <Select
        label={t('Lowest level')}
        value={fields.level}
        set={set('level')}
        options={[
          ['debug', t('Debug')],
          ['info', t('Info')],
          ['warn', t('Warning')],
          ['error', t('Error')],
        ]}
      />
      <Input
        label={t('Call UUID')}
        type="search"
        value={fields.call}
        set={set('call')}
        problem={isCallWrong ? t('This is not a complete call UUID.') : undefined}
        wider
      />
      <Input label={t('Text')} type="search" value={fields.search} set={set('search')} wider />
    </form>
  );
}

const asText = (row: Row): string =>
  [row['time'], text(row['level']).toUpperCase(), row['call_uuid'], row['message'], row['fields']]
    .map(text)
    .filter((one) => one !== '')
    .join(' ');

interface LinesProps {
  readonly lines: readonly Row[];
  readonly isFollowing: boolean;
}

function Lines({ lines, isFollowing }: LinesProps) {
  const [box, setBox] = useState<HTMLElement | null>(null);
  const last = lines.at(-1)?.['number'];
  useEffect(() => {
    if (isFollowing && box !== null) box.scrollTop = box.scrollHeight;
  }, [box, isFollowing, last]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section class="log-lines" aria-label={t('Log lines')} tabIndex={0} ref={setBox}>
      {lines.map((row) => (
        <div key={text(row['number'])} class={text(row['level'])}>
          <time dateTime={text(row['time'])} title={text(row['time'])}>
            {preciseTime(row['time'])}
          </time>
          <span class="level">
            <Badge tone={TONES[text(row['level'])] ?? 'none'}>{words(row['level'])}</Badge>
          </span>
          <span class="grow">
            {text(row['message'])} <Fields row={row} />
          </span>
        </div>
      ))}
    </section>
  );
}

const Fields = ({ row }: { readonly row: Row }) => (
  <>
    {row['call_uuid'] !== null && (
      <>
        <a href={href(`calls/${text(row['call_uuid'])}`)}>{text(row['call_uuid'])}</a>{' '}
      </>
    )}
    <span class="muted">{shownFields(text(row['fields']))}</span>
  </>
);

/** Formats the fields as `name=value`, and the stack of an error on lines of its own. */
function shownFields(json: string): string {
  if (json === '') return '';
  const { error, ...facts } = JSON.parse(json) as Row;
  const stack = text((error as Row | undefined)?.['stack'] ?? (error && JSON.stringify(error)));
  const pairs = Object.entries(facts).map(
    ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : text(value)}`,
  );
  return [pairs.join(' '), stack].filter((one) => one !== '').join('\n');
}
