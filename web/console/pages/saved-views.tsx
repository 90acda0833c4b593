/** Named filters of the list of calls, stored in the browser. */
import { useState } from 'preact/hooks';
import { t } from '../text.ts';
import { Input } from '../ui/form.tsx';
import { FormDrawer } from '../ui/overlay.tsx';
import { EMPTY, type Filters } from './call-filters.tsx';

const KEPT = 'console.views';
const VIEWS_MAX = 30;

interface View {
  readonly name: string;
  readonly filters: Partial<Filters>;
}

const BUILT_IN: readonly View[] = [
  { name: t('All calls'), filters: {} },
  { name: t('Running'), filters: { state: 'live' } },
  { name: t('Poor audio'), filters: { quality: 'bad' } },
  { name: t('One-way audio'), filters: { quality: 'one_way' } },
  { name: t('Answer URL failed'), filters: { cause: '7011' } },
];

function stored(): readonly View[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(found) ? (found as View[]) : [];
  } catch {
    return [];
  }
}

const usedOf = (filters: Partial<Filters>): string =>
  JSON.stringify(
    Object.entries(filters)
      .filter(([, value]) => value !== '')
      .toSorted(),
  );

interface Props {
  readonly filters: Filters;
  readonly change: (changes: Partial<Filters>) => void;
}

/** Views of the user, kept in the browser. */
function useOwnViews() {
  const [own, setOwn] = useState(stored);
  const keep = (next: readonly View[]) => {
    localStorage.setItem(KEPT, JSON.stringify(next));
    setOwn(next);
  };
  return { own, keep };
}

export function SavedViews({ filters, change }: Props) {
  const { own, keep } = useOwnViews();
  const [name, setName] = useState<string>();
  const used = usedOf(filters);
  const views = [...BUILT_IN, ...own];
  const isKnown = views.some((view) => usedOf(view.filters) === used);
  const current = own.find((view) => usedOf(view.filters) === used);
  const save = () => {
    const set = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
    const others = own.filter((view) => view.name !== name);
    keep([...others, { name: name ?? '', filters: set }].slice(-VIEWS_MAX));
    setName(undefined);
  };
  return (
    <fieldset class="chips">
      <legend class="sr">{t('Saved views')}</legend>
      {views.map((view) => (
        <button
          key={view.name}
          type="button"
          class="chip"
          aria-pressed={usedOf(view.filters) === used}
          onClick={() => change({ ...EMPTY, ...view.filters })}
        >
          {view.name}
        </button>
      ))}
      {!isKnown && (
        <button type="button" class="btn quiet tiny" onClick={() => setName('')}>
          {t('Save view')}
        </button>
      )}
      {current !== undefined && (
        <button
          type="button"
          class="btn quiet tiny"
          onClick={() => keep(own.filter((view) => view !== current))}
        >
          {t('Delete view')}
        </button>
      )}
      <SaveForm name={name} setName={setName} save={save} />
    </fieldset>
  );
}

interface FormProps {
  /** Name that the user types; undefined while the form is closed. */
  readonly name: string | undefined;
  readonly setName: (name: string | undefined) => void;
  readonly save: () => void;
}

const SaveForm = ({ name, setName, save }: FormProps) => (
  <FormDrawer
    title={t('Save view')}
    isOpen={name !== undefined}
    close={() => setName(undefined)}
    submit={t('Save view')}
    act={save}
    problem={undefined}
  >
    <Input label={t('Name of the view')} value={name ?? ''} set={setName} required />
    <p class="muted small">{t('Views are stored in this browser. To share one, share its URL.')}</p>
  </FormDrawer>
);
