import { useState } from 'preact/hooks';
import { call, get, type Row, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { Input, onSubmit, Save } from '../ui/form.tsx';
import { confirmed } from '../ui/overlay.tsx';
import { Card, Empty, Head, Problem, Tiles } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';

const ROOT = '/admin/v1/personal-data';
const KINDS = [
  ['calls', t('Calls')],
  ['recordings', t('Recordings')],
  ['transcriptions', t('Transcriptions')],
  ['contacts', t('Contacts of campaigns')],
  ['mentions', t('Mentions')],
  ['running_calls', t('Running calls')],
  ['do_not_call_lists', t('Do-not-call lists')],
] as const;

/** Number as typed, and the country of a number without country code, or ''. */
interface Wanted {
  readonly number: string;
  readonly country: string;
}

/** Counts of the records of a number, with the requests that find and erase them. */
function useRecords() {
  const [found, setFound] = useState<Row>();
  const { problem, fields, isBusy, run } = useAction();
  const find = (wanted: Wanted) =>
    run(async () => {
      setFound(undefined);
      setFound(await get(`${ROOT}?${queryOf(wanted)}`));
    });
  const erase = async (number: string) => {
    const isSure = await confirmed({
      title: t('Erase {number} from all records?', { number }),
      detail: t(
        'Recordings, transcriptions, timelines and contacts of the number are deleted in all accounts, and the number is removed from all texts that mention it. Times and amounts of calls remain. This cannot be undone.',
      ),
      action: t('Erase number'),
      typed: number,
    });
    if (!isSure) return;
    const wanted = { number, country: '' };
    const isDone = await run(() => call('DELETE', `${ROOT}?${queryOf(wanted)}`));
    if (!isDone) return;
    toast(t('The number is erased.'));
    await find(wanted);
  };
  return { found, problem, fields, isBusy, find, erase };
}

const queryOf = ({ number, country }: Wanted) =>
  new URLSearchParams({ number, ...(country !== '' && { country }) });

/** Records of one telephone number in all accounts: find, export and erase. */
export function PersonalData(_: PageProps) {
  const [typed, setTyped] = useState('');
  const [country, setCountry] = useState('');
  const { found, problem, fields, isBusy, find, erase } = useRecords();
  const { number: numberProblem, country: countryProblem } = fields;
  const isShownBeside = numberProblem !== undefined || countryProblem !== undefined;
  const number = text(found?.['number']);
  return (
    <>
      <Head
        title={t('Personal data')}
        about={t('Find, export and erase the records of a telephone number in all accounts.')}
      />
      <Card>
        <form
          class="filters"
          onSubmit={onSubmit(
            () => void find({ number: typed.trim(), country: country.trim().toUpperCase() }),
          )}
        >
          <Input
            label={t('Telephone number')}
            placeholder="+14155550100"
            type="tel"
            value={typed}
            set={setTyped}
            problem={numberProblem}
            required
          />
          <Input
            label={t('Country, if the number has no country code')}
            placeholder="DE"
            value={country}
            set={setCountry}
            problem={countryProblem}
          />
          <button type="submit" class="btn primary" aria-busy={isBusy}>
            {t('Find records')}
          </button>
        </form>
        <Problem text={isShownBeside ? undefined : problem} />
      </Card>
      {found === undefined ? null : KINDS.every(([name]) => found[name] === 0) ? (
        <Empty title={t('No record contains {number}.', { number })}>
          <p>{t('Check the country code, or search for another number.')}</p>
        </Empty>
      ) : (
        <Records of={found} number={number} erase={() => void erase(number)} />
      )}
    </>
  );
}

interface RecordsProps {
  /** Number of records by kind. */
  readonly of: Row;
  readonly number: string;
  readonly erase: () => void;
}

const Records = ({ of: counts, number, erase }: RecordsProps) => (
  <Card
    title={t('Records of {number}', { number })}
    actions={
      <>
        <Save
          path={`${ROOT}/export?${queryOf({ number, country: '' })}`}
          name={`personal-data-${number}.ndjson`}
        >
          {t('Export records')}
        </Save>
        {may('change') && (
          <button type="button" class="btn danger" onClick={erase}>
            {t('Erase number')}
          </button>
        )}
      </>
    }
  >
    <Tiles of={KINDS.map(([name, title]) => ({ name: title, value: count(counts[name]) }))} />
    <p class="small muted">
      {t(
        'Mentions are other records with the number in a text. An erasure keeps do-not-call lists, so that campaigns still do not call the number. Running calls must end first.',
      )}
    </p>
  </Card>
);
