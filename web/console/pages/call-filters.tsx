/** Filters of the list of calls. */
import { useState } from 'preact/hooks';
import { allOf, text } from '../api.ts';
import { secondOf } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { CAUSES } from '../reasons.ts';
import { t } from '../text.ts';
import { Input, type Options, Select } from '../ui/form.tsx';

export const EMPTY = {
  search: '',
  state: '',
  direction: '',
  from: '',
  to: '',
  cause: '',
  campaign: '',
  trunk: '',
  quality: '',
  min_cost: '',
  max_cost: '',
  min_duration: '',
  bot: '',
  accounts: '',
};
export type Filters = Readonly<Record<keyof typeof EMPTY, string>>;

/** Returns the query of the service for the filters. */
export function queryOf(filters: Filters): string {
  const query = new URLSearchParams();
  const put = (name: string, value: string) => value !== '' && query.set(name, value);
  put('search', filters.search.trim());
  put('call_direction', filters.direction);
  put('start_date', secondOf(filters.from, 'first'));
  put('end_date', secondOf(filters.to, 'last'));
  put('hangup_cause_code', filters.cause);
  put('campaign_id', filters.campaign);
  put('trunk_id', filters.trunk);
  put('min_cost', filters.min_cost);
  put('max_cost', filters.max_cost);
  put('min_duration', filters.min_duration);
  if (filters.quality === 'bad') put('max_mos', '3.39');
  if (filters.quality === 'fair') put('max_mos', '3.99');
  if (filters.quality === 'good') put('min_mos', '4');
  if (filters.quality === 'one_way') put('one_way_audio', 'true');
  return query.toString();
}

/** Filters that running calls have no values for. */
const ENDED_ONLY = [
  'from',
  'to',
  'cause',
  'campaign',
  'trunk',
  'quality',
  'min_cost',
  'max_cost',
] as const;

/**
 * Returns the query for running calls of an account, or of all accounts that the user may see. Undefined: the filters match
 * no running call.
 */
export function liveQueryOf(filters: Filters, account: string | undefined): string | undefined {
  if (filters.state === 'ended') return undefined;
  if (filters.state !== 'live' && ENDED_ONLY.some((name) => filters[name] !== '')) return undefined;
  const query = new URLSearchParams();
  if (account !== undefined) query.set('account_id', account);
  if (filters.search.trim() !== '') query.set('search', filters.search.trim());
  if (filters.direction !== '') query.set('direction', filters.direction);
  if (filters.bot !== '') query.set('bot', String(filters.bot === 'yes'));
  return query.toString();
}

interface Props {
  readonly filters: Filters;
  readonly change: (changes: Partial<Filters>) => void;
  readonly account: string;
  readonly isStaff: boolean;
}

const MORE: ReadonlyArray<keyof Filters> = [
  'cause',
  'campaign',
  'trunk',
  'quality',
  'min_cost',
  'max_cost',
  'min_duration',
  'bot',
  'accounts',
];

export function CallFilters({ filters, change, account, isStaff }: Props) {
  const used = MORE.filter((name) => filters[name] !== '').length;
  const [isOpen, setOpen] = useState(used > 0);
  const set = (name: keyof Filters) => (value: string) => change({ [name]: value });
  const isUsed = Object.values(filters).some((value) => value !== '');
  return (
    <form
      class="stack tight"
      onSubmit={(event) => event.preventDefault()}
      aria-label={t('Filters')}
    >
      <div class="filters">
        <Input
          label={t('Search')}
          placeholder={t('Call UUID, part of a number, name')}
          type="search"
          value={filters.search}
          set={set('search')}
          wider
        />
        <Select
          label={t('State')}
          value={filters.state}
          set={set('state')}
          options={[
            ['', t('All')],
            ['live', t('Running')],
            ['ended', t('Ended')],
          ]}
        />
        <Select
          label={t('Direction')}
          value={filters.direction}
          set={set('direction')}
          options={[
            ['', t('Both')],
            ['inbound', t('Inbound')],
            ['outbound', t('Outbound')],
          ]}
        />
        <Input label={t('From date')} type="date" value={filters.from} set={set('from')} />
        <Input label={t('To date')} type="date" value={filters.to} set={set('to')} />
        <button type="button" class="btn" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {used > 0 ? t('More filters ({n})', { n: used }) : t('More filters')}
        </button>
        {isUsed && (
          <button type="button" class="btn quiet" onClick={() => change(EMPTY)}>
            {t('Clear filters')}
          </button>
        )}
      </div>
      {isOpen && <MoreFilters {...{ filters, set, account, isStaff }} />}
    </form>
  );
}

interface MoreProps extends Omit<Props, 'change'> {
  readonly set: (name: keyof Filters) => (value: string) => void;
}

const ANY = ['', t('Any')] as const;

const QUALITIES: Options = [
  ANY,
  ['good', t('Good (MOS 4 or more)')],
  ['fair', t('MOS below 4')],
  ['bad', t('Poor (MOS below 3.4)')],
  ['one_way', t('One-way audio')],
];

/** Names of the account's objects at a path, by the field with their IDs. */
function useNames(account: string, path: string, id: string): Options {
  const { value = [] } = useLoad(`${account} ${path}`, () =>
    allOf(`/api/v1/Account/${account}/${path}`),
  );
  return [ANY, ...value.map((one) => [text(one[id]), text(one['name'])] as const)];
}

function MoreFilters({ filters, set, account, isStaff }: MoreProps) {
  const campaigns = useNames(account, 'campaigns', 'id');
  const trunks = useNames(account, 'trunks', 'trunk_id');
  const select = (label: string, name: keyof Filters, options: Options) => (
    <Select label={label} value={filters[name]} set={set(name)} options={options} />
  );
  const input = (label: string, name: keyof Filters) => (
    <Input label={label} value={filters[name]} set={set(name)} />
  );
  return (
    <div class="filters">
      {select(t('End cause'), 'cause', [ANY, ...CAUSES])}
      {select(t('Quality'), 'quality', QUALITIES)}
      {select(t('Campaign'), 'campaign', campaigns)}
      {select(t('Trunk'), 'trunk', trunks)}
      {input(t('Minimum cost'), 'min_cost')}
      {input(t('Maximum cost'), 'max_cost')}
      {input(t('Minimum answered seconds'), 'min_duration')}
      {select(t('Stream'), 'bot', [
        ANY,
        ['yes', t('Running with a stream')],
        ['no', t('Running without a stream')],
      ])}
      {isStaff &&
        select(t('Running calls of'), 'accounts', [
          ['', t('This account')],
          ['all', t('All accounts')],
        ])}
    </div>
  );
}
