/** Columns of common kinds. */
import { number, text } from '../api.ts';
import { count } from '../format.ts';
import { t } from '../text.ts';
import { Badge } from './parts.tsx';
import type { Column } from './table.tsx';

type Changes = Omit<Partial<Column>, 'title'>;

/** Column that shows a field as text and sorts by it. `changes` replaces properties of the column. */
export const textColumn = (title: string, field: string, changes: Changes = {}): Column => ({
  title,
  value: (row) => text(row[field]),
  sort: (row) => text(row[field]),
  ...changes,
});

/** Column that shows a field as a number and sorts by it. `changes` replaces properties of the column. */
export const numberColumn = (title: string, field: string, changes: Changes = {}): Column => ({
  title,
  value: (row) => count(row[field]),
  sort: (row) => number(row[field]),
  isNumber: true,
  ...changes,
});

/** Column that shows whether an object is enabled. */
export const enabledColumn = (changes: Changes = {}): Column => ({
  title: t('State'),
  value: ({ enabled }) => (
    <Badge tone={enabled === true ? 'good' : 'none'}>
      {enabled === true ? t('Enabled') : t('Disabled')}
    </Badge>
  ),
  ...changes,
});
