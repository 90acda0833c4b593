import { get, type Row, rows, text } from '../api.ts';
import { count, sentence, words } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input, Select } from '../ui/form.tsx';
import { Badge, Head, LoadProblem, type Tone } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  file: 'info',
  environment: 'info',
  console: 'fair',
};

const matches = (row: Row, part: string): boolean =>
  ['name', 'description', 'value', 'place'].some((name) =>
    text(row[name]).toLowerCase().includes(part),
  );

const OPTIONS = [
  ['', t('All')],
  ['changed', t('All but defaults')],
  ['default', t('Default')],
  ['file', t('File')],
  ['environment', t('Environment')],
  ['console', t('Console')],
  ['pending', t('Changed since the start')],
] as const;

const COLUMNS: readonly Column[] = [
  {
    title: t('Setting'),
    value: (row) => (
      <>
        <code class="strong">{text(row['name'])}</code>
        <br />
        <span class="muted small">{sentence(row['description'])}</span>
      </>
    ),
    sort: (row) => text(row['name']),
  },
  { title: t('Value'), value: (row) => <Value row={row} /> },
  {
    title: t('Source'),
    value: (row) => (
      <>
        <Badge tone={TONES[text(row['source'])] ?? 'none'}>{words(row['source'])}</Badge>
        {text(row['place']) !== '' && (
          <>
            <br />
            <code class="small muted">{text(row['place'])}</code>
          </>
        )}
      </>
    ),
    sort: (row) => text(row['source']),
  },
  {
    title: t('Change applies'),
    value: (row) => (row['live'] === true ? t('After a reload') : t('After a restart')),
    sort: (row) => text(row['live']),
    isMinor: true,
  },
];

/** Settings in force, each with its source. */
export function Settings() {
  const found = useLoad('settings', () => get('/admin/v1/settings'));
  const { fields, set } = useQuery({ search: '', source: '' });
  const part = fields.search.trim().toLowerCase();
  const all = found.value && rows(found.value['settings']);
  const shown = all?.filter((row) => matches(row, part) && isFrom(fields.source, row));
  const problems = [found.value?.['problems'] ?? []].flat().map(text);
  const pending = all?.filter(isPending).length ?? 0;
  return (
    <>
      <Head
        title={t('Settings')}
        about={t('The settings in force on this node, and where each value comes from.')}
      />
      <LoadProblem of={found} />
      <Notices problems={problems} pending={pending} />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Input
          label={t('Search')}
          type="search"
          placeholder={t('Name, value or description')}
          value={fields.search}
          set={set('search')}
          wider
        />
        <Select label={t('Source')} value={fields.source} set={set('source')} options={OPTIONS} />
      </form>
      <Table
        name={t('Settings')}
        rows={shown}
        problem={found.problem}
        keyOf={(row) => text(row['name'])}
        empty={t('No setting matches.')}
        columns={COLUMNS}
      />
      {all && <p class="small muted">{t('{n} settings', { n: count(all.length) })}</p>}
    </>
  );
}

interface NoticesProps {
  /** Errors in the settings file or environment. */
  readonly problems: readonly string[];
  /** Number of settings that have changed since the start. */
  readonly pending: number;
}

const Notices = ({ problems, pending }: NoticesProps) => (
  <>
    {problems.length > 0 && (
      <div class="callout bad" role="alert">
        <p class="strong">{t('The settings file or environment now has errors:')}</p>
        <ul>
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      </div>
    )}
    {problems.length === 0 && pending > 0 && (
      <div class="callout fair" role="status">
        {t(
          '{n} settings have changed since the start. Reload the settings on the health page, or restart the node.',
          { n: pending },
        )}
      </div>
    )}
  </>
);

const isPending = (row: Row): boolean => row['next_value'] !== null;

function isFrom(source: string, row: Row): boolean {
  if (source === 'pending') return isPending(row);
  if (source === 'changed') return row['source'] !== 'default';
  return source === '' || source === row['source'];
}

function Value({ row }: { readonly row: Row }) {
  const value = text(row['value']);
  return (
    <>
      {value === '' ? <span class="muted">{t('Empty')}</span> : <code>{value}</code>}
      {row['source'] !== 'default' && row['secret'] !== true && (
        <>
          <br />
          <span class="muted small">
            {t('Default: {value}', { value: text(row['default_value']) || t('empty') })}
          </span>
        </>
      )}
      {isPending(row) && (
        <>
          <br />
          <Badge tone="fair">{t('Next: {value}', { value: text(row['next_value']) })}</Badge>
        </>
      )}
    </>
  );
}
